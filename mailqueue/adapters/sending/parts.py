"""Splits a message into the fields that JSON APIs take. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from email.utils import getaddresses

from mailqueue.core.address import key_of
from mailqueue.mime.decode import octets_to_text, words_to_text
from mailqueue.mime.reader import (
    HeaderField,
    MimeLimits,
    Part,
    fields_of,
    read_message,
    transfer_decoded,
    unfolded,
)
from mailqueue.ports.transport import SendAttempt

MAX_PARTS = 100_000
"""Parts of a message; emails may have any number of files within their size limit."""
# Headers that providers write themselves, or take in fields of their own.
_OURS = frozenset(
    {
        "from",
        "to",
        "cc",
        "bcc",
        "reply-to",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "dkim-signature",
        "received",  # of messages that were handed in complete
    }
)


class TooManyParts(ValueError):
    """The message has too many parts, or parts nested too deeply, to be sent as fields."""


@dataclass(frozen=True, slots=True)
class Person:
    """A display name, which may be empty, and an address."""

    name: str
    address: str


People = tuple[Person, ...]


@dataclass(frozen=True, slots=True)
class MessageAttachment:
    """An attachment; an inline one has a Content-ID, without its angle brackets."""

    name: str
    content_type: str
    octets: bytes = field(repr=False)
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a message.

    To, Cc and Bcc are the envelope's recipients by the header naming them.
    """

    sender: Person
    to: tuple[Person, ...]
    cc: tuple[Person, ...]
    bcc: tuple[Person, ...]
    reply_to: tuple[Person, ...]
    subject: str
    text: str | None
    html: str | None
    message_id: str
    headers: tuple[tuple[str, str], ...]
    files: tuple[MessageAttachment, ...]
    is_blind: bool = False  # no header names any of the recipients


def parts_of(mail: SendAttempt) -> Parts:
    """Return the parts of an email, composed here or handed in complete.

    Recipients of the envelope that no header names are blind copies. If To names no remaining
    recipient, copies are moved to To: providers require at least one.

    Raises:
        TooManyParts: the message has more than MAX_PARTS parts, or is nested too deeply.
    """
    root = _read(mail.message)
    headers = _named(root.fields)
    first = {name.lower(): value for name, value in reversed(headers)}
    named = _by_header(first, mail.envelope.recipients)
    to, cc, bcc = _with_to(*named)
    text, html, files = _body(root)
    sender = _people(first.get("from", ""))
    return Parts(
        sender=sender[0] if sender else Person("", mail.envelope.sender),
        to=to,
        cc=cc,
        bcc=bcc,
        reply_to=tuple(_people(first.get("reply-to", ""))),
        subject=words_to_text(first.get("subject", "")),
        text=text,
        html=html,
        message_id=first.get("message-id", "").strip(),
        headers=tuple(
            (name, words_to_text(value))
            for name, value in headers
            if name.lower() not in _OURS and not name.lower().startswith("content-")
        ),
        files=files,
        is_blind=not any(named[:2]),
    )


def _read(message: bytes) -> Part:
    """Return the parsed message; the limits exceed those of accepted mail."""
    limits = MimeLimits(
        message_bytes=len(message),
        header_bytes=len(message),
        headers=MAX_PARTS,
        parts=MAX_PARTS,
        boundary_lines=2 * MAX_PARTS,
    )
    read = read_message(message, limits)
    if not read.is_complete:
        raise TooManyParts(
            "the message has too many or too deeply nested parts to be sent as fields"
        )
    return read.root


def copies_of(mail: SendAttempt) -> list[SendAttempt]:
    """Return an email for each recipient if several are all blind copies, else an empty list.

    Providers with a JSON API cannot send such an email in one request.
    """
    if len(mail.envelope.recipients) == 1 or any(recipients_of(mail)[:2]):
        return []
    return [
        mail._replace(envelope=mail.envelope._replace(recipients=(one,)))
        for one in mail.envelope.recipients
    ]


def _headers(message: bytes) -> list[tuple[str, str]]:
    head = message.partition(b"\r\n\r\n")[0].decode("utf-8", "replace")
    return _named(fields_of(head))


def _named(fields: Iterable[HeaderField]) -> list[tuple[str, str]]:
    return [(name, unfolded(value)) for name, value in fields]


def _people(header: str) -> list[Person]:
    pairs = getaddresses([header])
    return [Person(words_to_text(name), address) for name, address in pairs if "@" in address]


def mailbox(person: Person) -> str:
    """Return a mailbox in the format of JSON APIs: the name quoted, no encoded words."""
    if not person.name:
        return person.address
    name = person.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{name}" <{person.address}>'


def recipients_of(mail: SendAttempt) -> tuple[People, People, People]:
    """Return To, Cc and Bcc for providers that take the whole message and a list of recipients."""
    headers = {name.lower(): value for name, value in reversed(_headers(mail.message))}
    return _recipients(headers, mail.envelope.recipients)


def sender_of(mail: SendAttempt) -> str:
    """Return the address of From, which may differ from the envelope sender."""
    headers = {name.lower(): value for name, value in reversed(_headers(mail.message))}
    named = _people(headers.get("from", ""))
    return named[0].address if named else mail.envelope.sender


def _recipients(headers: dict[str, str], envelope: Sequence[str]) -> tuple[People, People, People]:
    return _with_to(*_by_header(headers, envelope))


def _by_header(headers: dict[str, str], envelope: Sequence[str]) -> tuple[People, People, People]:
    """Return the envelope's recipients that To, that Cc, and that neither names.

    Addresses are compared by their keys, so letter case and the form of a domain do not matter;
    those returned are spelled as in the envelope.
    """
    left: dict[str, list[str]] = {}
    for address in dict.fromkeys(envelope):
        left.setdefault(key_of(address), []).append(address)
    to, cc = (
        tuple(
            Person(one.name, address)
            for one in _people(headers.get(name, ""))
            for address in left.pop(key_of(one.address), ())
        )
        for name in ("to", "cc")
    )
    bcc = tuple(Person("", address) for addresses in left.values() for address in addresses)
    return to, cc, bcc


def _with_to(to: People, cc: People, bcc: People) -> tuple[People, People, People]:
    """Return the recipients with copies moved to To if To is empty and that reveals nothing."""
    if not to and cc:
        return cc, (), bcc
    if not to and len(bcc) == 1:  # the only recipient, so Bcc reveals nothing to others
        return bcc, (), ()
    return to, cc, bcc


def _body(root: Part) -> tuple[str | None, str | None, tuple[MessageAttachment, ...]]:
    text: str | None = None
    html: str | None = None
    files: list[MessageAttachment] = []
    for part in root.walk():
        if part.content.get_content_maintype() == "multipart":
            continue
        content_type = part.content.get_content_type()
        is_file = bool(part.filename()) or _disposition(part) == "attachment"
        if content_type == "text/plain" and text is None and not is_file:
            text = _text(part)
        elif content_type == "text/html" and html is None and not is_file:
            html = _text(part)
        else:
            files.append(_file(part, number=len(files) + 1))
    return text, html, tuple(files)


def _disposition(part: Part) -> str | None:
    return part.content.get_content_disposition()


def _text(part: Part) -> str:
    octets = transfer_decoded(part.body, part.encoding)
    return octets_to_text(octets, part.parameter("charset") or "utf-8").replace("\r\n", "\n")


def _file(part: Part, *, number: int) -> MessageAttachment:
    name = words_to_text(part.filename()) or f"part{number}"
    is_inline = _disposition(part) != "attachment"
    content_id = str(part.content.get("Content-ID", "")).strip()
    content_id = content_id.removeprefix("<").removesuffix(">")
    octets = transfer_decoded(part.body, part.encoding)
    return MessageAttachment(
        name, part.content.get_content_type(), octets, content_id if is_inline else ""
    )
