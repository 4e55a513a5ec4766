"""Shared by `serve` and `studio`: the address to listen on, the token, and the server."""

from __future__ import annotations

import argparse
import os
import secrets
from typing import Any

from ._options import UsageError

_LOCAL = ("127.0.0.1", "localhost", "::1")


def add_serving(parser: argparse.ArgumentParser, port: int, token: str) -> Any:
    """Add the options of the address and the token; port, token: the defaults, the latter in
    words. Returns the group of the token."""
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS",
        help="the address to listen on; 0.0.0.0 for all networks (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=_port, default=port, metavar="N",
        help="the port, 0 for any free one (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="a further name that requests may address the server by; may be repeated",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--token", default=os.environ.get("PIFOREST_TOKEN"), metavar="TEXT",
        help=f"what every request has to carry (default: $PIFOREST_TOKEN, or {token})",
    )  # fmt: skip
    return group


def given_token(args: argparse.Namespace) -> str | None:
    """The token of the options or the environment, if there is one."""
    if args.token == "":
        raise UsageError("--token must not be empty.")
    found: str | None = args.token
    return found


def new_token() -> str:
    return secrets.token_urlsafe(24)


def missing(command: str, error: ImportError) -> ImportError:
    """What to install, if a package of the server is missing."""
    return ImportError(
        f"piforest {command} needs {error.name}; install it with pip install 'piforest[{command}]'"
    )


def answer_requests(app: Any, listening: Any, **options: Any) -> None:
    """Serve an application until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="off", **options
    )
    uvicorn.Server(config).run(sockets=[listening])


def listen(host: str, port: int) -> Any:
    """A socket that listens, or one clear line."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise OSError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None


def allowed_hosts(args: argparse.Namespace) -> tuple[str, ...]:
    """Names that requests may use; any, if the server listens on other networks."""
    if args.host in _LOCAL:
        return (*_LOCAL, *args.allow_host)
    return (args.host, *_LOCAL, *args.allow_host) if args.allow_host else ()


def shown_address(host: str, port: int, token: str | None) -> str:
    """The address to open."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} must be an integer from 0 to 65535")
    return int(text)
