"""Patterns: content with its tracking, made and encoded once for all mails that share it. Pure.

A pattern has a blank wherever a token goes; only the blanks are filled for each mail.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple
from uuid import UUID

from mailqueue.mime.headers import unstructured
from mailqueue.mime.skeleton import MessageContent, Skeleton, compile_skeleton
from mailqueue.tracking import rewriting, urls
from mailqueue.tracking.footer import Footer, under_html, under_text
from mailqueue.tracking.tokens import Seals, Token, TokenKind
from mailqueue.tracking.urls import PATHS
from mailqueue.tracking.work import check_work

_NONCE = 20
_DIGITS = 4
MAX_LINKS = 2_000
"""Most different links of one mail that are tracked; further ones are not rewritten. Below 10,000,
as a blank has four digits.
"""
_SHORT, _LONG = 54, 70  # characters of a token, without and with a link
_FILL = {_SHORT: "x", _LONG: "y"}
_SOFT = b"=\r\n"  # quoted-printable breaks lines anywhere


class TrackingOptions(NamedTuple):
    """Which kinds of tracking a mail has."""

    opens: bool = False
    clicks: bool = False
    unsubscribe: bool = False
    is_marketing: bool = False


class InjectionContext(NamedTuple):
    """The tracking settings of a project; `base` None: it has no URL for its links."""

    base: str | None
    seals: Seals | None
    postal_address: str | None = None


class Links(NamedTuple):
    """The links of one mail: by name, of the open pixel, and (`lead`) of a destination."""

    named: dict[str, str]
    opened: str
    lead: Callable[[str], str]


def put_into(
    content: MessageContent,
    wants: TrackingOptions,
    context: InjectionContext,
    links: Links | None,
    *,
    language: str = "en",
) -> MessageContent:
    """Return content with its tracking injected; links in plain text are not tracked.

    Raises:
        ValueError: it takes more work than an email may.
    """
    check_work(content)
    named = {} if links is None else links.named
    html, text, subject = content.html, content.text, content.subject
    if links is not None:
        subject = None if subject is None else urls.with_links(subject, named)
        html = None if html is None else urls.with_links(html, named)
        text = None if text is None else urls.with_links(text, named)
    if wants.is_marketing:
        leaves = named.get(urls.UNSUBSCRIBE_URL) if wants.unsubscribe else None
        footer = Footer(context.postal_address, leaves, language)
        html = None if html is None else under_html(html, footer)
        text = None if text is None else under_text(text, footer)
    if html is not None and links is not None and not rewriting.is_amp(html):
        if wants.clicks or rewriting.OPTION in html:
            html = rewriting.rewritten(
                html,
                links.lead,
                base=context.base or "",
                left=_given_links(content),
                has_clicks=wants.clicks,
            )
        if wants.opens:
            html = rewriting.with_at_end(html, _picture(links.opened))
    return content._replace(subject=subject, html=html, text=text)


def unsubscribe_headers(content: MessageContent, url: str) -> tuple[tuple[str, str], ...]:
    """Return the headers of RFC 8058; none for a mail that has its own."""
    if any(name.lower() in _LIST for name, _ in content.headers):
        return ()
    return (
        ("List-Unsubscribe", f"<{url}>"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    )


_LIST = frozenset({"list-unsubscribe", "list-unsubscribe-post"})


class Blank(NamedTuple):
    """A place in a pattern where a token goes."""

    kind: TokenKind
    link: bytes = b""

    @property
    def length(self) -> int:
        return _LONG if self.link else _SHORT


class InjectionPattern:
    """Content that many mails share, with blanks for the tokens of each mail."""

    __slots__ = (
        "_blanks",
        "_content",
        "_place",
        "_seals",
        "_sign",
        "_skeleton",
        "_template",
        "links",
    )

    def __init__(
        self,
        content: MessageContent,
        wants: TrackingOptions,
        context: InjectionContext,
        *,
        language: str,
    ) -> None:
        assert context.base is not None
        assert context.seals is not None
        self._seals = context.seals
        self._sign = _sign_of(content)
        self.links: dict[bytes, str] = {}
        """The destinations of its tracked links, by link id."""
        base = context.base

        blanks: dict[Blank, int] = {}

        def place(kind: TokenKind, link: bytes = b"") -> str:
            blank = Blank(kind, link)
            number = blanks.setdefault(blank, len(blanks))
            return base + PATHS[kind] + self._written(number, blank.length)

        def lead(url: str) -> str:
            link = self._seals.link_of(url)
            if link not in self.links and len(self.links) >= MAX_LINKS:
                return url
            self.links[link] = url
            return place(TokenKind.CLICK, link)

        named = {name: place(kind) for name, kind in urls.NAMES.items()}
        links = Links(named, place(TokenKind.OPEN), lead)
        self._content = put_into(content, wants, context, links, language=language)
        self._place = re.compile(_form(self._sign))
        words = "\0".join(each or "" for each in _words(self._content))
        used = {int(found[1]) for found in self._place.finditer(words)}
        self._blanks = [one if number in used else None for one, number in blanks.items()]
        self._skeleton = compile_skeleton(self._content)
        self._template = _template(self._skeleton.mime, self._sign, self._content)

    @property
    def size(self) -> int:
        """Return its approximate size in bytes."""
        return 4 * len(self._skeleton.mime)

    def filled(self, email_id: UUID) -> Skeleton:
        """Return one mail, encoded.

        Raises:
            ValueError: as `compile_skeleton`.
        """
        tokens = self._tokens(email_id)
        if self._template is None:
            return compile_skeleton(self.content_of(email_id))
        mime = self._template.filled([token.encode() for token in tokens])
        subject = self._content.subject
        if subject is None or self._sign not in subject:
            return self._skeleton._replace(mime=mime)
        written = unstructured("Subject", self._replaced(subject, tokens))
        return self._skeleton._replace(mime=mime, subject=written)

    def content_of(self, email_id: UUID) -> MessageContent:
        """Return the content of one mail."""
        tokens = self._tokens(email_id)
        subject, html, text = (
            None if each is None else self._replaced(each, tokens) for each in _words(self._content)
        )
        return self._content._replace(subject=subject, html=html, text=text)

    def _tokens(self, email_id: UUID) -> list[str]:
        seal = self._seals.seal
        return [
            "" if blank is None else seal(Token(blank.kind, email_id, 0, blank.link))
            for blank in self._blanks
        ]

    def _written(self, number: int, length: int) -> str:
        return f"{self._sign}{number:0{_DIGITS}}".ljust(length, _FILL[length])

    def _replaced(self, text: str, tokens: Sequence[str]) -> str:
        return self._place.sub(lambda found: tokens[int(found[1])], text)


class _Template(NamedTuple):
    """Encoded content in pieces; behind each a gap: its token's number, and its line breaks."""

    pieces: tuple[bytes, ...]
    gaps: tuple[tuple[int, tuple[int, ...]], ...]

    def filled(self, tokens: Sequence[bytes]) -> bytes:
        parts = []
        for piece, (number, breaks) in zip(self.pieces, self.gaps, strict=False):
            parts.append(piece)
            token = tokens[number]
            at = 0
            for end in breaks:
                parts += (token[at:end], _SOFT)
                at = end
            parts.append(token[at:] if at else token)
        parts.append(self.pieces[-1])
        return b"".join(parts)


def _template(mime: bytes, sign: str, content: MessageContent) -> _Template | None:
    """Return encoded content cut at its blanks; None when the encoding hides them."""
    wanted = re.compile(_form(sign, "(?:=\r\n)?").encode())
    pieces, gaps, end = [], [], 0
    for found in wanted.finditer(mime):
        pieces.append(mime[end : found.start()])
        number = int(found[1].replace(_SOFT, b""))
        gaps.append((number, _breaks(found[0])))
        end = found.end()
    if len(gaps) != sum((each or "").count(sign) for each in (content.html, content.text)):
        return None
    return _Template((*pieces, mime[end:]), tuple(gaps))


def _form(sign: str, between: str = "") -> str:
    """Return the regular expression of a blank; its number is the first group."""
    lengths = "|".join(
        f"(?:{letter}{between}){{{length - len(sign) - _DIGITS}}}"
        for length, letter in _FILL.items()
    )
    letters = "".join(f"{letter}{between}" for letter in sign)
    return f"{letters}((?:[0-9]{between}){{{_DIGITS}}})(?:{lengths})"


def _breaks(octets: bytes) -> tuple[int, ...]:
    """Return the character offsets of the line breaks."""
    lengths = [len(part) for part in octets.split(_SOFT)]
    return tuple(sum(lengths[: place + 1]) for place in range(len(lengths) - 1))


def _sign_of(content: MessageContent) -> str:
    """Return letters that occur nowhere in the content: a text cannot contain its own hash."""
    words = "\0".join(each or "" for each in (content.subject, content.html, content.text))
    digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=_NONCE // 2).hexdigest()
    return digest.translate(str.maketrans("0123456789", "ghijklmnop"))


def _words(content: MessageContent) -> tuple[str | None, str | None, str | None]:
    return content.subject, content.html, content.text


def _given_links(content: MessageContent) -> frozenset[str]:
    """Return the URLs of a mail's own List-Unsubscribe."""
    found = [value for name, value in content.headers if name.lower() == "list-unsubscribe"]
    return frozenset(link for value in found for link in re.findall(r"<\s*([^<>\s]+)\s*>", value))


def _picture(url: str) -> str:
    return (
        f'<img src="{url}" width="1" height="1" alt="" role="presentation" '
        'style="display:block;width:1px;height:1px;border:0">'
    )
