"""The result of a database query, in parts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._extras import needed
from .objects import column_of
from .table import Table, block_rows, check_width, first_repeated

_FILES = (".db", ".sqlite", ".sqlite3")
# Rows that are fetched at once where all are read.
_FETCHED = 65_536


def read_blocks(path: str, rows: int | None, sql: str) -> Iterator[Table]:
    """path: a database URL of SQLAlchemy, such as postgresql://user@host/name, or the file of an
    SQLite database. Whatever the query changes is rolled back."""
    sa = needed("sqlalchemy", "database queries", "sql")
    url = _url(sa, str(path))
    source = url.render_as_string(hide_password=True)
    with _clear_errors(sa, source), _connected(sa, _only_read(url)) as connection:
        result = connection.exec_driver_sql(sql)
        if not result.returns_rows:
            raise _Named(f"{source}: the query must give rows, as SELECT does.")
        names = [str(name) for name in result.keys()]  # noqa: SIM118 - rows come without it
        _check_names(source, names)
        yield from _tables(result, names, rows, source)


def _tables(result: Any, names: list[str], rows: int | None, source: str) -> Iterator[Table]:
    done, step = 0, block_rows(_FETCHED if rows is None else rows, len(names), sys.maxsize)
    parts = iter(lambda: result.fetchmany(step), [])
    if rows is None:
        parts = iter([[row for part in parts for row in part]])
    for part in parts:
        if part:
            columns = {name: column_of(cells) for name, cells in zip(names, zip(*part))}
            yield Table(columns, source, first_row=done + 1)
            done += len(part)
    if not done:
        raise _Named(f"{source}: the query gives no rows.")


def _url(sa: Any, text: str) -> Any:
    """The URL of a database."""
    if "://" not in text and Path(text).suffix.lower() in _FILES:
        text = f"sqlite:///{text}"
    try:
        url = sa.engine.make_url(text)
    except sa.exc.ArgumentError:
        raise ValueError(
            f"{text.rsplit('@', 1)[-1]}: FILE must be the URL of a database for a query, such as "
            "postgresql://user@host/name, or an SQLite file (.db, .sqlite)."
        ) from None
    if _is_file(url) and not Path(url.database).is_file():
        raise FileNotFoundError(f"{url.database}: there is no such file.")
    return url


def _is_file(url: Any) -> bool:
    return bool(url.get_backend_name() == "sqlite" and url.database and not url.query)


def _only_read(url: Any) -> Any:
    """The URL of a database that SQLite opens read-only and does not create."""
    if not _is_file(url):
        return url
    place = Path(url.database).resolve().as_posix()
    return url.set(database=f"file:{place}", query={"mode": "ro", "uri": "true"})


@contextmanager
def _connected(sa: Any, url: Any) -> Iterator[Any]:
    engine = sa.create_engine(url)
    try:
        with engine.connect() as connection:
            yield connection.execution_options(stream_results=True)
    finally:
        engine.dispose()


def _check_names(source: str, names: list[str]) -> None:
    check_width(source, len(names))
    again = first_repeated(names)
    if again is not None:
        raise _Named(
            f"{source}: the query gives two columns named {names[again]!r}; rename one with AS."
        )


class _Named(ValueError):
    """An error that names the database already."""


@contextmanager
def _clear_errors(sa: Any, source: str) -> Iterator[None]:
    try:
        yield
    except _Named:
        raise
    except ImportError as error:
        raise ImportError(f"{source}: its driver is missing ({error}); install it.") from error
    except (sa.exc.SQLAlchemyError, ValueError, OverflowError) as error:
        # The library's own text has the query and a link, on several lines.
        said = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
        raise ValueError(f"{source}: the query fails ({said}).") from error
