"""What a server accepts, and from whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


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
    larger : mapping of str to int
        Paths with another limit of bytes.
    command : str
        The command that printed the token.
    cookie : str or None
        The name of a cookie that may carry the token. It is set when the token is in an address,
        so that what a page loads carries it too; None: there is no page.
    policy : str
        The content security policy of answers that have none of their own.
    """

    token: str | None
    hosts: tuple[str, ...] = LOOPBACK
    max_rows: int = 100_000
    max_bytes: int = 64_000_000
    larger: Mapping[str, int] = field(default_factory=dict)
    command: str = "piforest serve"
    cookie: str | None = None
    policy: str = POLICY

    def bytes_of(self, path: str) -> int:
        """The most bytes that a body sent to a path may have."""
        return self.larger.get(path, self.max_bytes)
