"""COLMAP's databases: keypoints, matches and cameras in; two-view geometries out."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ...protocols import Bools, Floats, Ints
from ..atomic import whole_path
from ..cameras import Camera
from . import Pair, PairMatches, Verdict, check_pair, check_points, some_names

# COLMAP numbers a pair of images by this: smaller id * _PAIRS + larger id.
_PAIRS = 2147483647
# SQLite's machine steps: between two looks at the count, and free of charge.
_STEPS, _FREE_STEPS = 10_000, 10_000_000
_MOST_PARAMS = 100


def open_file(path: Path) -> ColmapDatabase:
    with opened(path) as database:
        return ColmapDatabase(path, _images(database))


class ColmapDatabase:
    """A database of COLMAP. Pixels are as COLMAP has them: the middle of the first pixel is at
    0.5."""

    def __init__(self, path: Path, images: dict[str, int]) -> None:
        self.path, self.images = path, images

    def pairs(self) -> list[Pair]:
        """Pairs with matches; with verified ones, where none but these were kept."""
        with opened(self.path) as database:
            for table in ("matches", "two_view_geometries"):
                found = database.execute(
                    f"SELECT pair_id FROM {table} WHERE rows > 0 ORDER BY pair_id"
                ).fetchall()
                if found:
                    break
        names = {number: name for name, number in self.images.items()}
        pairs = []
        for (number,) in found:
            ids = divmod(number, _PAIRS) if _is_number(number, _PAIRS**2) else (-1, -1)
            if not all(each in names for each in ids):
                raise ValueError(
                    f"{self.path} cannot be read: it is damaged or no COLMAP database (its pair "
                    f"{number!r:.40} is of images that are not there: {some_names(self.images)})."
                )
            pairs.append((names[ids[0]], names[ids[1]]))
        return pairs

    def read(self, pair: Pair) -> PairMatches:
        """With the numbers of the keypoints, and which matches COLMAP's own check kept."""
        check_pair(self.path, pair, self.images)
        first, second = (self.images[name] for name in pair)
        with opened(self.path) as database:
            index, kept = _matches(database, pair_number(first, second))
            points = [
                _array(database, "keypoints", "image_id", each, np.float32)
                for each in (first, second)
            ]
        if not len(index):
            raise ValueError(f"{self.path} holds no matches between {pair[0]!r} and {pair[1]!r}.")
        if first > second:
            index, kept = index[:, ::-1], kept[:, ::-1]
        ends = [check_points(self.path, pair, points[k], index[:, k], k) for k in range(2)]
        more = {"verified": _among(index, kept)}
        return PairMatches(np.concatenate(ends, axis=1), index, more=more)

    def camera(self, image: str) -> Camera | None:
        found = self._camera_row(image)
        if found is None:
            return None
        camera, model, params = found[:3]
        good = isinstance(params, bytes) and len(params) % 8 == 0 and isinstance(model, int)
        if not good or len(params) > 8 * _MOST_PARAMS:
            raise ValueError(f"{self.path} is damaged: its camera {camera} has no parameters.")
        try:
            return Camera.of_colmap(model, np.frombuffer(params, np.float64).tolist())
        except ValueError as error:
            raise ValueError(f"{self.path}: camera {camera}: {error}") from None

    def image_size(self, image: str) -> tuple[int, int] | None:
        """Width and height."""
        found = self._camera_row(image)
        if found is None:
            return None
        width, height = found[3:5]
        good = all(_is_number(each, 2**31) and each > 0 for each in (width, height))
        return (width, height) if good else None

    def focal_is_guessed(self, image: str) -> bool:
        """Whether COLMAP does not know the focal length and assumes a default."""
        found = self._camera_row(image)
        return found is not None and found[5] == 0

    def _camera_row(self, image: str) -> Any:
        with opened(self.path) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
            if "cameras" not in tables:
                return None
            return database.execute(
                "SELECT c.camera_id, c.model, c.params, c.width, c.height, c.prior_focal_length "
                "FROM cameras c JOIN images i ON c.camera_id = i.camera_id WHERE i.image_id = ?",
                (self.images[image],),
            ).fetchone()

    def check_writable(self, out: Path) -> None:
        if out.suffix.lower() not in (".db", ".sqlite"):
            raise ValueError(f"{out}: a copy of a COLMAP database must end in .db.")

    def write(self, out: Path, verdicts: Mapping[Pair, Verdict]) -> None:
        """A copy with other two-view geometries of these pairs."""
        with whole_path(out) as place, _writing(out, place) as copy:
            with opened(self.path) as database:
                database.backup(copy)
            # The journal would lie beside the temporary name.
            copy.execute("PRAGMA journal_mode = MEMORY")
            self._put(copy, verdicts)

    def write_in_place(self, verdicts: Mapping[Pair, Verdict]) -> None:
        """Replace the two-view geometries of these pairs in the database, in one transaction."""
        with _writing(self.path, self.path) as database:
            self._put(database, verdicts)

    def _put(self, database: Any, verdicts: Mapping[Pair, Verdict]) -> None:
        columns = [row[1] for row in database.execute("PRAGMA table_info(two_view_geometries)")]
        with database:
            for pair, verdict in verdicts.items():
                number = pair_number(*(self.images[name] for name in pair))
                values = _row(number, _matches(database, number)[0], verdict)
                named = {name: value for name, value in values.items() if name in columns}
                marks = ", ".join("?" * len(named))
                database.execute("DELETE FROM two_view_geometries WHERE pair_id = ?", (number,))
                database.execute(
                    f"INSERT INTO two_view_geometries ({', '.join(named)}) VALUES ({marks})",
                    tuple(named.values()),
                )


def _row(number: int, index: Ints, verdict: Verdict) -> dict[str, Any]:
    """A row of two_view_geometries. index (n, 2): the matches in the order of the database."""
    kept = index[verdict.kept].astype(np.uint32)
    row: dict[str, Any] = {"pair_id": number, "rows": len(kept), "cols": 2,
                           "data": kept.tobytes(), "config": verdict.config}  # fmt: skip
    for name in ("F", "E", "H"):
        row[name] = _blob(getattr(verdict, name))
    if verdict.R is not None:
        # A rotation without a translation is also a pose.
        t = np.zeros(3) if verdict.t is None else verdict.t
        row |= {"qvec": _blob(quaternion(verdict.R)), "tvec": _blob(t)}
    return row


def _matches(database: Any, number: int) -> tuple[Ints, Ints]:
    """(n, 2) the matches of a pair, and those that COLMAP's own check kept."""
    pairs, kept = (
        _array(database, table, "pair_id", number, np.uint32).astype(np.int64)
        for table in ("matches", "two_view_geometries")
    )
    return (pairs if len(pairs) else kept), kept


def pair_number(first: int, second: int) -> int:
    """COLMAP's number of a pair."""
    low, high = sorted((first, second))
    return low * _PAIRS + high


def quaternion(R: Floats) -> Floats:
    """(w, x, y, z) of a rotation, of unit length, w not negative."""
    # Four times the outer product of the quaternion with itself.
    t = np.trace(R)
    K = np.array([
        [1 + t, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [0, 1 + 2 * R[0, 0] - t, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [0, 0, 1 + 2 * R[1, 1] - t, R[1, 2] + R[2, 1]],
        [0, 0, 0, 1 + 2 * R[2, 2] - t],
    ])  # fmt: skip
    K = np.triu(K) + np.triu(K, 1).T
    column = K[int(np.argmax(np.diag(K)))]
    unit = column / np.linalg.norm(column)
    return np.asarray(unit if unit[0] >= 0 else -unit)


def _blob(array: Floats | None) -> bytes | None:
    return None if array is None else np.ascontiguousarray(array, np.float64).tobytes()


def _among(index: Ints, kept: Ints) -> Bools:
    known = set(map(tuple, kept.tolist()))
    return np.array([tuple(each) in known for each in index.tolist()], bool)


def _images(database: Any) -> dict[str, int]:
    """The numbers of the images, by name."""
    found = database.execute("SELECT name, image_id FROM images").fetchall()
    for name, number in found:
        if not (isinstance(name, str) and _is_number(number, _PAIRS)):
            said = f"{name!r:.40} {number!r:.40}"
            raise sqlite3.DatabaseError(f"its table images has an image {said}")
    if len(dict(found)) != len(found) or len({number for _, number in found}) != len(found):
        raise sqlite3.DatabaseError("its table images has an image twice")
    return dict(found)


def _is_number(value: Any, most: int) -> bool:
    """SQLite stores any type in any column, whatever the schema says."""
    return isinstance(value, int) and 0 <= value < most


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A database that is only read, and cannot make this process read more than it holds."""
    try:
        options = "mode=ro&immutable=1" if _is_at_rest(path) else "mode=ro"
        place = f"file:{quote(os.fsencode(path.resolve()))}?{options}"
        with closing(sqlite3.connect(place, uri=True)) as database:
            size = path.stat().st_size
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, size)
            steps = itertools.count(_STEPS, _STEPS)
            # A view may never end; a scan of a table takes a few steps for each row.
            database.set_progress_handler(lambda: next(steps) > size + _FREE_STEPS, _STEPS)
            database.execute("PRAGMA trusted_schema = OFF")
            yield database
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        raise ValueError(
            f"{path} cannot be read: it is damaged or no COLMAP database ({error})."
        ) from error


def _is_at_rest(path: Path) -> bool:
    """Has the database a write-ahead log that no program has open? Then SQLite must not make a
    new one, which it would leave behind, or could not make in a folder that is only read."""
    with open(path, "rb") as file:
        header = file.read(20)
    return header[18:20] == b"\2\2" and not Path(f"{path}-wal").exists()


@contextmanager
def _writing(name: Path, place: Path) -> Iterator[sqlite3.Connection]:
    """A database that is written; nothing changes if the block raises."""
    try:
        with closing(sqlite3.connect(place)) as database:
            # Triggers of an untrusted database must not run.
            database.execute("PRAGMA trusted_schema = OFF")
            yield database
    except sqlite3.Error as error:
        raise OSError(f"cannot write {name}: {error}.") from error


def _array(database: Any, table: str, key: str, number: int, dtype: Any) -> NDArray[Any]:
    """(rows, cols) one array of the database; (0, 2) where it has none."""
    found = database.execute(f"SELECT rows, cols, data FROM {table} WHERE {key} = ?", (number,))
    rows, cols, data = found.fetchone() or (0, 2, b"")
    if rows == 0 or data is None:
        return np.empty((0, 2), dtype)
    sound = (
        isinstance(data, bytes)
        and _is_number(rows, 2**40)
        and _is_number(cols, 2**20)
        and (cols == 2 or (cols > 2 and table == "keypoints"))
        and len(data) == rows * cols * np.dtype(dtype).itemsize
    )
    if not sound:
        raise sqlite3.DatabaseError(f"an array in its table {table} has not the size it says")
    return np.frombuffer(data, dtype).reshape(rows, cols)
