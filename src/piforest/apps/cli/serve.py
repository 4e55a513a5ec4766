"""`piforest serve`."""

from __future__ import annotations

import argparse
import os
import secrets

from ._options import UsageError, count, file, jobs
from ._output import Output
from ._serving import add_address, allowed_hosts, listen, shown_address

HELP = "score rows over HTTP with a saved model"
DESCRIPTION = (
    "Serve a model of `piforest detect --model` or `detector.save`: POST /score takes rows as JSON "
    "or Arrow and returns their scores. Only this machine can reach it, unless --host says "
    "otherwise, and every request needs the token that is printed. Ctrl-C ends it."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=file, metavar="MODEL", help="the model, a .pif file")
    add_address(parser, 8000)
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
    limits = Limits(token, allowed_hosts(args), args.max_rows, args.max_bytes)
    app = make_app(detector, args.model.name, limits, concurrent=os.cpu_count() or 1)
    listening = listen(args.host, args.port)
    with listening:
        port = listening.getsockname()[1]
        output.say(f"model       {args.model}")
        output.say(f"address     {shown_address(args.host, port, token)}")
        if token is None:
            output.warn("there is no token: whoever can connect can score.")
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        uvicorn.Server(config).run(sockets=[listening])
    return 0
