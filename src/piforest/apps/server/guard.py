"""Which requests reach the application: by token, host, origin and size.

A pure ASGI layer, so that a body that is too large is not read.
"""

from __future__ import annotations

import hmac
import html
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .limits import Limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# Answers without a token, so that a supervisor can see whether the server lives.
OPEN_PATHS = ("/health",)
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]


class Refused(Exception):
    """A request that is answered with an error; status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Guard:
    """Refuses requests before the application sees them, and counts all.

    count(path of the route, status): called for every answer.
    """

    def __init__(
        self,
        app: App,
        limits: Limits,
        count: Callable[[str, int], None] = lambda path, status: None,
    ) -> None:
        self.app, self.limits, self.count = app, limits, count

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no other protocol is spoken here
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Answer(send, self._headers(scope))
        try:
            self._check(scope)
            most = self.limits.bytes_of(scope["path"])
            await self.app(scope, _bounded(receive, most), answer)
        except Refused as refused:
            if not answer.status:
                await refuse(answer, refused, self.limits if _reads_pages(scope) else None)
        route = getattr(scope.get("route"), "path", "other")
        self.count(route, answer.status)

    def _headers(self, scope: Message) -> list[tuple[bytes, bytes]]:
        """What every answer has; the cookie, if the token came in the address."""
        headers = [*_HEADERS, (b"content-security-policy", self.limits.policy.encode())]
        token, cookie = self.limits.token, self.limits.cookie
        if token is not None and cookie is not None and _same(_token_in_address(scope), token):
            value = f"{cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
            headers.append((b"set-cookie", value.encode()))
        return headers

    def _check(self, scope: Message) -> None:
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        host = headers.get("host", "")
        if self.limits.hosts and _name(host) not in self.limits.hosts:
            raise Refused(421, f"this server is not {host!r}; --allow-host adds a name.")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            raise Refused(403, f"requests of pages of {origin!r} are refused.")
        if not self._knows_token(scope, headers):
            raise Refused(
                401,
                f"the token is missing or wrong; it is in the address that {self.limits.command} "
                "printed: send it as 'Authorization: Bearer TOKEN' or ?token=TOKEN.",
            )
        length = headers.get("content-length", "0")
        most = self.limits.bytes_of(scope["path"])
        if not length.isdecimal() or int(length) > most:
            raise _too_large(most)

    def _knows_token(self, scope: Message, headers: dict[str, str]) -> bool:
        expected = self.limits.token
        if expected is None or scope["path"] in OPEN_PATHS:
            return True
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        sent = [bearer if kind.lower() == "bearer" else _token_in_address(scope)]
        if self.limits.cookie is not None:
            sent.append(_cookie(headers.get("cookie", ""), self.limits.cookie))
        return any(_same(each, expected) for each in sent)


def _same(sent: str, expected: str) -> bool:
    """Compared in constant time."""
    return hmac.compare_digest(sent.encode(), expected.encode())


def _token_in_address(scope: Message) -> str:
    query = scope.get("query_string", b"").decode("latin-1")
    return str(parse_qs(query).get("token", [""])[0])


def _cookie(header: str, name: str) -> str:
    try:
        found: Any = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return "" if found is None else str(found.value)


def _bounded(receive: Receive, most: int) -> Receive:
    """`receive` that refuses a body whose length was not given and is too large."""
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise _too_large(most)
        return message

    return bounded


def _too_large(most: int) -> Refused:
    return Refused(413, f"the body must have at most {most:,} bytes; send less at once.")


class _Answer:
    """`send` that adds headers to every answer and remembers its status; 0: none was sent."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self.send, self.headers, self.status = send, headers, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name for name, _ in message.get("headers", [])}
            added = [(name, value) for name, value in self.headers if name not in given]
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await self.send(message)


def _reads_pages(scope: Message) -> bool:
    """Whether a browser asks for a page, rather than a program for an answer."""
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return scope.get("method") == "GET" and b"text/html" in accepted


async def refuse(send: Send, refused: Refused, page_of: Limits | None = None) -> None:
    """Send an error as JSON, or as a page of the server with these limits, if it has pages."""
    body, kind = json.dumps({"error": refused.text}).encode(), b"application/json"
    if page_of is not None and page_of.cookie is not None:
        body, kind = _page(refused, page_of.command).encode(), b"text/html; charset=utf-8"
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.status == 413:
        headers.append((b"connection", b"close"))  # the rest of the body is not read
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _page(refused: Refused, command: str) -> str:
    title, text = "This page cannot be shown", html.escape(refused.text)
    if refused.status == 401:
        title = "This address lacks its token"
        text = (
            "Only you may open this page, so its address ends with a password: "
            "<code>?token=…</code>. Look for the whole address in the window where "
            f"<code>{html.escape(command)}</code> was started, and open that."
        )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title></head>'
        f"<body><h1>{title}</h1><p>{text}</p></body></html>"
    )


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
