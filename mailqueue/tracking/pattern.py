"""Decides what is put into a mail's words, and does most of it once for all mails that share them.

A pattern has a blank wherever a token goes. Encoded for the wire once, it only has its blanks
filled for each mail. Pure.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple
from uuid import UUID

from mailqueue.mime.headers import unstructured
from mailqueue.mime.skeleton import Content, Skeleton, compile_skeleton
from mailqueue.tracking import rewriting, urls
from mailqueue.tracking.footer import Footer, under_html, under_text
from mailqueue.tracking.tokens import Seals, Token, TokenKind
from mailqueue.tracking.urls import PATHS

_NONCE = 20
_DIGITS = 4
MAX_LINKS = 10**_DIGITS - 8
"""Of one mail; those behind them are left as they are."""
_SHORT, _LONG = 54, 70  # characters of a token, without and with a link
_FILL = {_SHORT: "x", _LONG: "y"}
_SOFT = b"=\r\n"  # quoted-printable breaks lines anywhere


class TrackingOptions(NamedTuple):
    """What is to be put into a mail."""

    opens: bool = False
    clicks: bool = False
    unsubscribe: bool = False
    is_marketing: bool = False

    @property
    def anything(self) -> bool:
        return self.opens or self.clicks or self.unsubscribe or self.is_marketing


class InjectionContext(NamedTuple):
    """What a project's mail has in common; `base` None: no link leads to us."""

    base: str | None
    seals: Seals | None
    postal_address: str | None = None


class Links(NamedTuple):
    """How the links of a mail are written."""

    named: dict[str, str]
    opened: str
    lead: Callable[[str], str]


def put_into(
    said: Content,
    wants: TrackingOptions,
    ground: InjectionContext,
    links: Links | None,
    *,
    language: str = "en",
) -> Content:
    """Return a mail's words with all that is wanted in them; the text is not tracked."""
    named = {} if links is None else links.named
    html, text, subject = said.html, said.text, said.subject
    if links is not None:
        subject = None if subject is None else urls.with_links(subject, named)
        html = None if html is None else urls.with_links(html, named)
        text = None if text is None else urls.with_links(text, named)
    if wants.is_marketing:
        leaves = named.get(urls.UNSUBSCRIBE_URL) if wants.unsubscribe else None
        footer = Footer(ground.postal_address, leaves, language)
        html = None if html is None else under_html(html, footer)
        text = None if text is None else under_text(text, footer)
    if html is not None and links is not None and not rewriting.is_amp(html):
        if wants.clicks or rewriting.OPTION in html:
            html = rewriting.rewritten(
                html,
                links.lead,
                base=ground.base or "",
                left=_given_links(said),
                has_clicks=wants.clicks,
            )
        if wants.opens:
            html = rewriting.with_at_end(html, _picture(links.opened))
    return said._replace(subject=subject, html=html, text=text)


def unsubscribe_headers(said: Content, url: str) -> tuple[tuple[str, str], ...]:
    """Return the headers of RFC 8058, nothing where the mail brings its own."""
    if any(name.lower() in _LIST for name, _ in said.headers):
        return ()
    return (
        ("List-Unsubscribe", f"<{url}>"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    )


_LIST = frozenset({"list-unsubscribe", "list-unsubscribe-post"})


class Blank(NamedTuple):
    """A place for a token."""

    kind: TokenKind
    link: bytes = b""

    @property
    def length(self) -> int:
        return _LONG if self.link else _SHORT


class InjectionPattern:
    """Words that many mails share, with blanks for what is each mail's own."""

    __slots__ = ("_blanks", "_mould", "_place", "_said", "_seals", "_sign", "_skeleton", "links")

    def __init__(
        self, said: Content, wants: TrackingOptions, ground: InjectionContext, *, language: str
    ) -> None:
        assert ground.base is not None
        assert ground.seals is not None
        self._seals = ground.seals
        self._sign = _sign_of(said)
        self.links: dict[bytes, str] = {}
        """The addresses that tracked links of it lead to, by their names."""
        base = ground.base

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
        self._said = put_into(said, wants, ground, links, language=language)
        self._place = re.compile(_form(self._sign))
        words = "\0".join(each or "" for each in _words(self._said))
        used = {int(found[1]) for found in self._place.finditer(words)}
        self._blanks = [one if number in used else None for one, number in blanks.items()]
        self._skeleton = compile_skeleton(self._said)
        self._mould = _mould(self._skeleton.mime, self._sign, self._said)

    @property
    def size(self) -> int:
        """Return how many bytes it takes, about."""
        return 4 * len(self._skeleton.mime)

    def filled(self, email_id: UUID) -> Skeleton:
        """Return the octets of one mail.

        Raises:
            ValueError: as `compile_skeleton`.
        """
        tokens = self._tokens(email_id)
        if self._mould is None:
            return compile_skeleton(self.said(email_id))
        mime = self._mould.filled([token.encode() for token in tokens])
        subject = self._said.subject
        if subject is None or self._sign not in subject:
            return self._skeleton._replace(mime=mime)
        written = unstructured("Subject", self._replaced(subject, tokens))
        return self._skeleton._replace(mime=mime, subject=written)

    def said(self, email_id: UUID) -> Content:
        """Return the words of one mail."""
        tokens = self._tokens(email_id)
        subject, html, text = (
            None if each is None else self._replaced(each, tokens) for each in _words(self._said)
        )
        return self._said._replace(subject=subject, html=html, text=text)

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


class _Mould(NamedTuple):
    """Octets with a gap behind each piece: which token goes there, and where its line is broken."""

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


def _mould(mime: bytes, sign: str, said: Content) -> _Mould | None:
    """Find the blanks in encoded words; None where the encoding hides them."""
    wanted = re.compile(_form(sign, "(?:=\r\n)?").encode())
    pieces, gaps, end = [], [], 0
    for found in wanted.finditer(mime):
        pieces.append(mime[end : found.start()])
        number = int(found[1].replace(_SOFT, b""))
        gaps.append((number, _breaks(found[0])))
        end = found.end()
    if len(gaps) != sum((each or "").count(sign) for each in (said.html, said.text)):
        return None
    return _Mould((*pieces, mime[end:]), tuple(gaps))


def _form(sign: str, between: str = "") -> str:
    """Return the expression a blank fits, its number as the first group."""
    lengths = "|".join(
        f"(?:{letter}{between}){{{length - len(sign) - _DIGITS}}}"
        for length, letter in _FILL.items()
    )
    letters = "".join(f"{letter}{between}" for letter in sign)
    return f"{letters}((?:[0-9]{between}){{{_DIGITS}}})(?:{lengths})"


def _breaks(octets: bytes) -> tuple[int, ...]:
    """Return after how many characters the line is broken."""
    lengths = [len(part) for part in octets.split(_SOFT)]
    return tuple(sum(lengths[: place + 1]) for place in range(len(lengths) - 1))


def _sign_of(said: Content) -> str:
    """Return letters that stand nowhere in these words: nobody can write what hashes to itself."""
    words = "\0".join(each or "" for each in (said.subject, said.html, said.text))
    digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=_NONCE // 2).hexdigest()
    return digest.translate(str.maketrans("0123456789", "ghijklmnop"))


def _words(said: Content) -> tuple[str | None, str | None, str | None]:
    return said.subject, said.html, said.text


def _given_links(said: Content) -> frozenset[str]:
    """Return the addresses of a mail's own List-Unsubscribe."""
    found = [value for name, value in said.headers if name.lower() == "list-unsubscribe"]
    return frozenset(link for value in found for link in re.findall(r"<\s*([^<>\s]+)\s*>", value))


def _picture(url: str) -> str:
    return (
        f'<img src="{url}" width="1" height="1" alt="" role="presentation" '
        'style="display:block;width:1px;height:1px;border:0">'
    )
