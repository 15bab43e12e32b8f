"""Decides all of a message that its recipients share: body parts, boundary, headers. Pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from mailqueue.mime.body import EncodedBody, check_body, encode_body
from mailqueue.mime.headers import check_header, check_value, unstructured

_BOUNDARY_OCTETS = 12  # keeps the header that names it under 76 octets
_HASHED_OCTETS = 256


@dataclass(frozen=True, slots=True)
class Content:
    """What a message says. A body that is None is absent; an empty one is a part of its own."""

    subject: str | None
    html: str | None
    text: str | None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A content ready for any number of mails: encoded octets, line ends CRLF."""

    subject: bytes
    headers: bytes
    mime: bytes
    """The MIME headers, the empty line and the body."""


def check_content(content: Content) -> None:
    """Refuse a content that cannot become a message.

    Raises:
        ValueError: naming the part and what is wrong with it.
    """
    if content.html is None and content.text is None:
        raise ValueError("a message needs an html or a text body, got neither")
    if content.subject is not None:
        check_value("Subject", content.subject)
    for name, value in content.headers:
        check_header(name, value)
    if content.html is not None:
        check_body("html", content.html)
    if content.text is not None:
        check_body("text", content.text)


def compile_skeleton(content: Content) -> Skeleton:
    """Encode a content once for all the mails that carry it. Same content, same octets.

    Text and html become multipart/alternative, one of them a single part. A single part ends with
    a line end, added if it is missing; parts of a multipart arrive as they are.

    Raises:
        ValueError: as `check_content`.
    """
    check_content(content)
    subject = b"" if content.subject is None else unstructured("Subject", content.subject)
    headers = b"".join([unstructured(name, value) for name, value in content.headers])
    if content.html is None:
        return Skeleton(subject, headers, _single("plain", content.text or ""))
    if content.text is None:
        return Skeleton(subject, headers, _single("html", content.html))
    return Skeleton(subject, headers, _alternative(content.text, content.html))


def _single(subtype: str, text: str) -> bytes:
    ended = text if text.endswith(("\n", "\r")) else f"{text}\n"
    mime = b"MIME-Version: 1.0\r\n" + _part(subtype, encode_body(ended))
    return mime if mime.endswith(b"\r\n") else mime + b"\r\n"  # base64 has none of its own


def _alternative(text: str, html: str) -> bytes:
    # RFC 2046 5.1.4: the plainest first.
    plain = _part("plain", encode_body(text))
    rich = _part("html", encode_body(html))
    mark = _boundary((plain, rich))
    return b"".join(
        (
            b"MIME-Version: 1.0\r\n",
            b'Content-Type: multipart/alternative; boundary="%b"\r\n\r\n' % mark,
            b"--%b\r\n%b\r\n--%b\r\n%b\r\n--%b--\r\n" % (mark, plain, mark, rich, mark),
        )
    )


def _part(subtype: str, body: EncodedBody) -> bytes:
    head = (
        f"Content-Type: text/{subtype}; charset=utf-8\r\n"
        f"Content-Transfer-Encoding: {body.encoding}\r\n\r\n"
    )
    return head.encode() + body.octets


def _boundary(parts: Sequence[bytes]) -> bytes:
    """Choose a boundary that stands in none of the parts; the same parts get the same one."""
    digest = hashlib.blake2b(digest_size=_BOUNDARY_OCTETS)
    for part in parts:
        # The search below makes it safe; the digest need not read all to make a first try good.
        digest.update(b"%d %b" % (len(part), part[:_HASHED_OCTETS]))
    while True:
        # "=_" stands in no quoted-printable and no base64 text.
        mark = b"=_" + digest.hexdigest().encode()
        if not any(mark in part for part in parts):
            return mark
        digest.update(mark)
