"""What a server accepts, and from whom."""

from __future__ import annotations

from dataclasses import dataclass

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Limits:
    """The limits of one server.

    Attributes
    ----------
    token : str or None
        What every request has to carry; None: nothing.
    hosts : tuple of str
        Names that requests may address the server by; empty: any. A page of another site that
        resolves its own name to this machine is refused by it.
    max_rows : int
        Rows of one request.
    max_bytes : int
        Bytes of the body of one request.
    """

    token: str | None
    hosts: tuple[str, ...] = LOOPBACK
    max_rows: int = 100_000
    max_bytes: int = 64_000_000
