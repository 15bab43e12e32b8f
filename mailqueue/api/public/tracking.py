"""`/t/o/{token}` and `/t/c/{token}`: the open pixel, and the redirect of click links.

Raw ASGI without starlette's request and response: these are the most frequent requests.
"""

import asyncio
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from mailqueue.api.http.responses import HEAD, RawHeaders
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.rendering import page
from mailqueue.api.public.tracked import NowhereToGo, Recorder, Repeats, TrackedRequest
from mailqueue.api.public.wording import WORDS, words_for
from mailqueue.core.errors import ConfigError, Locked, SealBroken, Unavailable
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.machines import known_by, proxy_of
from mailqueue.tracking.rewriting import web_address
from mailqueue.tracking.tokens import InvalidToken, Seals, TokenKind
from mailqueue.tracking.urls import PATHS
from mailqueue.tracking.visitors import kept_of

GIF = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b"
)
"""The open pixel: a transparent GIF of one pixel, 43 bytes."""
RETRY_SECONDS = 5
_KINDS = {PATHS[kind]: kind for kind in (TokenKind.OPEN, TokenKind.CLICK)}
_START = len(PATHS[TokenKind.OPEN])
_MAX_TOKEN_CHARACTERS = 200
_MAX_QUERY_BYTES = 200
# Characters that must be percent-encoded in a header; encoded ones are unchanged.
_SAFE = "%/:=&?~#+!$,;'@()*[]|{}^`\\\""
_COMMON = [
    (b"cache-control", b"no-store, no-cache, must-revalidate, private, max-age=0"),
    (b"pragma", b"no-cache"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-robots-tag", b"noindex, nofollow"),
]
_PICTURE = [
    *_COMMON,
    (b"content-type", b"image/gif"),
    (b"content-length", b"%d" % len(GIF)),
    (b"cross-origin-resource-policy", b"cross-origin"),
]
_PLAIN = [*_COMMON, (b"content-type", b"text/plain; charset=utf-8")]
_STATUS_BY_FAULT = {
    "missing": HTTPStatus.NOT_FOUND,
    "link_away": HTTPStatus.SERVICE_UNAVAILABLE,
}
NO_LINK = b"This link is not valid. It may have been cut off on its way to you.\n"
AWAY = b"This link cannot be followed at this moment. Please try again shortly.\n"
NO_METHOD = b"Only GET and HEAD are answered here.\n"

log = get_logger(__name__)


class TrackingRoute(BaseRoute):
    """Both endpoints as one starlette route."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._keyring: Keyring = runtime.services.keyring
        self._recorder = Recorder(runtime)
        self._repeats = Repeats()
        self._loading = asyncio.Lock()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return starlette's match for a path."""
        is_ours = scope["type"] == "http" and scope["path"][:_START] in _KINDS
        return (Match.FULL, {}) if is_ours else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Handle a request and send the response."""
        status, headers, body = await self._answer(scope)
        if scope["method"] == "HEAD":
            body = b""
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope) -> tuple[int, RawHeaders, bytes]:
        if scope["method"] not in ("GET", "HEAD"):
            return 405, [*_sized(NO_METHOD), (b"allow", b"GET, HEAD")], NO_METHOD
        kind = _KINDS[scope["path"][:_START]]
        is_click = kind is TokenKind.CLICK  # a person may see the answer
        try:
            asked = await self._asked(scope, kind)
            is_counted = scope["method"] == "GET" and not self._repeats.is_too_often(scope["path"])
            if is_counted:
                url = await self._recorder.record(asked)
            elif is_click:  # HEAD asks for the destination and is no click
                url = await self._recorder.destination(asked)
            else:
                url = None
            if url is None:
                return 200, _PICTURE, GIF
            # Any other URL than that of a web page, even from the database, is refused.
            return refused(scope, "missing") if web_address(url) is None else _elsewhere(url)
        except (InvalidToken, NowhereToGo):
            return refused(scope, "missing") if is_click else (404, _sized(NO_LINK), NO_LINK)
        except (Unavailable, ConfigError, Locked, SealBroken) as exc:
            log.warning("tracking.failed", fault=type(exc).__name__)
            later = (b"retry-after", b"%d" % RETRY_SECONDS)
            status, headers, body = (
                refused(scope, "link_away") if is_click else (503, _sized(AWAY), AWAY)
            )
            return status, [*headers, later], body

    async def _asked(self, scope: Scope, kind: TokenKind) -> TrackedRequest:
        text = scope["path"][_START:]
        if len(text) > _MAX_TOKEN_CHARACTERS:
            raise InvalidToken
        seals = self._keyring.held(text) or await self._loaded(text)
        token = seals.open(text, kind)
        head: Mapping[bytes, bytes] = scope[HEAD]
        client = scope.get("client") or (None,)
        return TrackedRequest(
            seals.project_id, token, known_by(head), proxy_of(head), kept_of(head, client[0])
        )

    async def _loaded(self, text: str) -> Seals:
        # One after the other: unknown tokens must not take all connections.
        async with self._loading:
            if (seals := self._keyring.held(text)) is not None:
                return seals
            async with self._runtime.transaction(None, by="tracking") as conn:
                return await self._keyring.opener(conn, text)


def refused(scope: Scope, what: str) -> tuple[int, RawHeaders, bytes]:
    """Return the page for a person whose click leads nowhere, in the browser's language."""
    query = scope["query_string"][:_MAX_QUERY_BYTES].decode("latin-1")
    accepted = scope[HEAD].get(b"accept-language", b"").decode("latin-1")
    (chosen,) = parse_qs(query).get("lang", [""])[:1]
    status, headers, body = _page(
        what, words_for(chosen=chosen, accepted=accepted, of_mail=None).tag
    )
    return status, [*headers], body


@cache
def _page(what: str, tag: str) -> tuple[int, RawHeaders, bytes]:
    """Return a page about a link; it names no person and is made once for each language."""
    status = _STATUS_BY_FAULT[what]
    made = page("fault.html", words=WORDS[tag], status=status, what=what)
    return status, made.raw_headers, bytes(made.body)


def _elsewhere(url: str) -> tuple[int, RawHeaders, bytes]:
    location = (b"location", header_of(url))
    return 302, [*_COMMON, location, (b"content-length", b"0")], b""


def header_of(url: str) -> bytes:
    """Return a URL as a header value: ASCII, its host in A-labels."""
    if not url.isascii():
        parts = urlsplit(url)
        try:
            host = parts.netloc.encode("idna").decode()
        except UnicodeError:
            host = quote(parts.netloc, safe=_SAFE)
        url = urlunsplit(parts._replace(netloc=host))
    return quote(url, safe=_SAFE).encode()


def _sized(body: bytes) -> RawHeaders:
    return [*_PLAIN, (b"content-length", b"%d" % len(body))]
