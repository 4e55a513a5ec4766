"""`piforest serve`."""

from __future__ import annotations

import argparse
import os
import secrets
from typing import Any

from ._options import UsageError, count, file, jobs
from ._output import Output

HELP = "score rows over HTTP with a saved model"
DESCRIPTION = (
    "Serve a model of `piforest detect --model` or `detector.save`: POST /score takes rows as JSON "
    "or Arrow and returns their scores. Only this machine can reach it, unless --host says "
    "otherwise, and every request needs the token that is printed. Ctrl-C ends it."
)
_LOCAL = ("127.0.0.1", "localhost", "::1")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=file, metavar="MODEL", help="the model, a .pif file")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS",
        help="the address to listen on; 0.0.0.0 for all networks (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=_port, default=8000, metavar="N",
        help="the port, 0 for any free one (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="a further name that requests may address the server by; may be repeated",
    )  # fmt: skip
    token = parser.add_mutually_exclusive_group()
    token.add_argument(
        "--token", default=os.environ.get("PIFOREST_TOKEN"), metavar="TEXT",
        help="what every request has to carry (default: $PIFOREST_TOKEN, or a random one)",
    )  # fmt: skip
    token.add_argument("--no-token", action="store_true", help="answer everyone who can connect")
    parser.add_argument(
        "--max-rows", type=count, default=100_000, metavar="N",
        help="rows of one request (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--max-bytes", type=count, default=64_000_000, metavar="N",
        help="bytes of one request (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=jobs, default=1, metavar="N",
        help="threads of one request; does not change results (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(args: argparse.Namespace, output: Output) -> int:
    try:
        import uvicorn

        from ..server.app import make_app
    except ImportError as error:
        raise ImportError(
            f"piforest serve needs {error.name}; install it with pip install 'piforest[serve]'"
        ) from error
    from ...estimators import load
    from ..server.limits import Limits

    if args.token == "":
        raise UsageError("--token must not be empty; --no-token asks for none.")
    detector = load(args.model)
    detector.n_jobs = args.jobs
    token = None if args.no_token else args.token or secrets.token_urlsafe(24)
    limits = Limits(token, _hosts(args), args.max_rows, args.max_bytes)
    app = make_app(detector, args.model.name, limits, concurrent=os.cpu_count() or 1)
    listening = _listen(args.host, args.port)
    with listening:
        port = listening.getsockname()[1]
        shown = f"[{args.host}]" if ":" in args.host else args.host
        output.say(f"model       {args.model}")
        output.say(f"address     http://{shown}:{port}/" + (f"?token={token}" if token else ""))
        if token is None:
            output.warn("there is no token: whoever can connect can score.")
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _listen(host: str, port: int) -> Any:
    """A socket that listens, or one clear line."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise OSError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None


def _hosts(args: argparse.Namespace) -> tuple[str, ...]:
    """Names that requests may use; any, if the server listens on other networks."""
    if args.host in _LOCAL:
        return (*_LOCAL, *args.allow_host)
    return (args.host, *_LOCAL, *args.allow_host) if args.allow_host else ()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} must be an integer from 0 to 65535")
    return int(text)
