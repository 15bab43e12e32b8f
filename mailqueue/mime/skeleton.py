"""Encodes the parts of a message that all its recipients share: body, boundary, headers. Pure."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from mailqueue.mime.body import EncodedBody, check_body, encode_body
from mailqueue.mime.files import MessageFile, check_file, file_part, inline_and_attached
from mailqueue.mime.headers import check_header, check_value, unstructured

_BOUNDARY_OCTETS = 12  # keeps the header with the boundary below 76 bytes
_HASHED_OCTETS = 256


class MessageContent(NamedTuple):
    """The content of a message. A body that is None is absent; an empty one is an empty part."""

    subject: str | None
    html: str | None
    text: str | None
    headers: tuple[tuple[str, str], ...] = ()
    files: tuple[MessageFile, ...] = ()


class Skeleton(NamedTuple):
    """Content encoded for any number of emails, with CRLF line ends."""

    subject: bytes
    headers: bytes
    mime: bytes
    """The MIME headers, the empty line and the body."""


def check_content(content: MessageContent) -> None:
    """Refuse content that cannot become a message.

    Raises:
        ValueError: the message names the part and the reason.
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
    for file in content.files:
        check_file(file)
        if content.html is None and file.content_id:
            raise ValueError("a file with a Content-ID needs an html body that shows it")


def compile_skeleton(content: MessageContent) -> Skeleton:
    """Encode content once for all emails that have it; the result is deterministic.

    Text and HTML become a multipart/alternative; one of them alone a single part, which ends with a
    line end, added if missing. Files that the HTML shows are in a multipart/related, other files in
    a multipart/mixed.

    Raises:
        ValueError: as `check_content`.
    """
    check_content(content)
    subject = b"" if content.subject is None else unstructured("Subject", content.subject)
    headers = b"".join([unstructured(name, value) for name, value in content.headers])
    return Skeleton(subject, headers, b"MIME-Version: 1.0\r\n" + _whole(content))


def _whole(content: MessageContent) -> bytes:
    if content.files:
        return _with_files(content)
    if content.html is None:
        return _single("plain", content.text or "")
    if content.text is None:
        return _single("html", content.html)
    # RFC 2046 5.1.4: the simplest format first.
    plain = _part("plain", encode_body(content.text))
    return _multipart(b"alternative", (plain, _part("html", encode_body(content.html))))


def _with_files(content: MessageContent) -> bytes:
    inline, attached = inline_and_attached(content.files)
    bodies = []
    if content.text is not None:
        bodies.append(_part("plain", encode_body(content.text)))
    if content.html is not None:
        html = _part("html", encode_body(content.html))
        shown = [html, *map(file_part, inline)]
        bodies.append(_multipart(b"related", shown, b'; type="text/html"') if inline else html)
    body = bodies[0] if len(bodies) == 1 else _multipart(b"alternative", bodies)
    if not attached:
        return body
    return _multipart(b"mixed", [body, *map(file_part, attached)])


def _single(subtype: str, text: str) -> bytes:
    ended = text if text.endswith(("\n", "\r")) else f"{text}\n"
    part = _part(subtype, encode_body(ended))
    return part if part.endswith(b"\r\n") else part + b"\r\n"  # base64 ends without one


def _multipart(subtype: bytes, parts: Sequence[bytes], parameters: bytes = b"") -> bytes:
    mark = _boundary(parts)
    head = b'Content-Type: multipart/%b; boundary="%b"%b\r\n\r\n' % (subtype, mark, parameters)
    between = b"\r\n--%b\r\n" % mark
    return b"".join((head, b"--%b\r\n" % mark, between.join(parts), b"\r\n--%b--\r\n" % mark))


def _part(subtype: str, body: EncodedBody) -> bytes:
    return _part_head(subtype, body.encoding) + body.octets


@cache  # six combinations
def _part_head(subtype: str, encoding: str) -> bytes:
    return (
        f"Content-Type: text/{subtype}; charset=utf-8\r\n"
        f"Content-Transfer-Encoding: {encoding}\r\n\r\n"
    ).encode()


def _boundary(parts: Sequence[bytes]) -> bytes:
    """Return a boundary that occurs in none of the parts, the same one for the same parts."""
    # The search below guarantees it; the digest covers enough for a good first choice.
    first = b"".join([b"%d %b" % (len(part), part[:_HASHED_OCTETS]) for part in parts])
    digest = hashlib.blake2b(first, digest_size=_BOUNDARY_OCTETS)
    while True:
        # "=_" occurs in no quoted-printable or base64 text.
        mark = b"=_" + digest.hexdigest().encode()
        for part in parts:
            if mark in part:
                break
        else:
            return mark
        digest.update(mark)
