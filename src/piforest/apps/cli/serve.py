"""`piforest serve`."""

from __future__ import annotations

import argparse
import os

from ._options import count, file, jobs
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

HELP = "score rows over HTTP with a saved model"
DESCRIPTION = (
    "Serve a model of `piforest detect --model` or `detector.save`: POST /score takes rows as JSON "
    "or Arrow and returns their scores. Only this machine can reach it, unless --host says "
    "otherwise, and every request needs the token that is printed. Ctrl-C ends it."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=file, metavar="MODEL", help="the model, a .pif file")
    token = add_serving(parser, 8000, "a random one")
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


def run(args: argparse.Namespace, output: Output) -> int:
    try:
        import uvicorn  # noqa: F401

        from ..server.app import make_app
    except ImportError as error:
        raise missing("serve", error) from error
    from ...estimators import load
    from ..server.limits import Limits

    token = None if args.no_token else given_token(args) or new_token()
    detector = load(args.model)
    detector.n_jobs = args.jobs
    limits = Limits(token, allowed_hosts(args), args.max_rows, args.max_bytes)
    app = make_app(detector, args.model.name, limits, concurrent=os.cpu_count() or 1)
    listening = listen(args.host, args.port)
    with listening:
        port = listening.getsockname()[1]
        output.say(f"model       {args.model}")
        output.say(f"address     {shown_address(args.host, port, token)}")
        if token is None:
            output.warn("there is no token: whoever can connect can score.")
        answer_requests(app, listening)
    return 0
