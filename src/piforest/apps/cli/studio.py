"""`piforest studio`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ._options import UsageError, count, folder, positive
from ._output import Output
from ._serving import (
    add_serving,
    allowed_hosts,
    answer_requests,
    given_token,
    listen,
    missing,
    new_token,
    shown_address,
)

HELP = "open the page: files in, anomalies out, in the browser"
DESCRIPTION = (
    "Open Studio, a page on this machine: drop a table, a scan, images, matches, a depth map or a "
    "series on it, see which rows follow no pattern and why, and take away the rows, a report, the "
    "model and the command that repeats it. Only this machine can reach it, unless --host says "
    "otherwise. Ctrl-C ends it; projects stay."
)
_SHARE_OF_MEMORY = 0.75


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address and open nothing"
    )
    add_serving(parser, 8765, "one that is kept with the projects")
    parser.add_argument(
        "--folder", type=folder, action="append", metavar="DIR",
        help="a folder whose files the page may read by path; may be repeated (default: the "
        "current one)",
    )  # fmt: skip
    parser.add_argument(
        "--home", type=folder, metavar="DIR",
        help="where projects, uploads and results are kept (default: $PIFOREST_STUDIO, or a folder "
        "for data of the user)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-code", action="store_true",
        help="let the page define families by two functions in Python, which then run with your "
        "rights",
    )  # fmt: skip
    parser.add_argument(
        "--max-upload", type=positive, default=1000.0, metavar="MB",
        help="size of one uploaded file (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--max-home", type=positive, default=10_000.0, metavar="MB",
        help="size of all that is kept (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=positive, metavar="MB",
        help="memory of one job (default: three quarters of the machine's)",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=positive, default=3600.0, metavar="S",
        help="seconds that one job may take (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=count, default=2, metavar="N",
        help="jobs that run at the same time (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace, output: Output) -> int:
    try:
        import uvicorn  # noqa: F401

        from ..studio.app import open_studio
    except ImportError as error:
        raise missing("studio", error) from error
    from ..studio.jobs import JobLimits
    from ..studio.studio import Options

    home = _home(args.home)
    token = given_token(args) or _kept_token(home)
    with listen(args.host, args.port) as listening:
        port = listening.getsockname()[1]
        options = Options(
            home=home,
            folders=_folders(args.folder),
            max_upload=int(args.max_upload * 1e6),
            max_home=int(args.max_home * 1e6),
            jobs=JobLimits(args.memory or _memory_mb(), args.timeout, args.workers),
            allow_code=args.allow_code,
        )
        studio, app = open_studio(options, token, allowed_hosts(args), port)
        address = shown_address(args.host, port, token)
        output.say(f"address     {address}")
        output.say(f"projects    {options.home}")
        output.say(f"folders     {', '.join(map(str, options.folders))}")
        if args.allow_code:
            output.warn("--allow-code: whoever has the address can run code with your rights.")
        if not args.no_browser:
            import webbrowser

            webbrowser.open(address)
        try:
            answer_requests(app, listening, timeout_graceful_shutdown=2)
        finally:
            studio.close()
    return 0


def _folders(given: list[Path] | None) -> list[Path]:
    found = [each.resolve() for each in given or [Path.cwd()]]
    for each in found:
        if not each.is_dir():
            raise UsageError(f"--folder: there is no folder {each}.")
    return found


def _kept_token(home: Path) -> str:
    """The token of the last start, so that an open page works after a restart."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = home / "token"
    try:
        kept = path.read_text().strip()
        if len(kept) >= 32 and (os.name == "nt" or not path.stat().st_mode & 0o077):
            return kept
    except (OSError, ValueError):
        pass
    made = new_token()
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(made)
    return made


def _home(given: Path | None) -> Path:
    """The folder of projects: as given, of the environment, or where the system keeps data."""
    if given is not None:
        return given.resolve()
    if named := os.environ.get("PIFOREST_STUDIO"):
        return Path(named).resolve()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "piforest" / "studio"


def _memory_mb() -> float:
    """Three quarters of the memory of the machine; 8,000 MB if unknown."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8000.0
    return _SHARE_OF_MEMORY * pages * size / 1e6
