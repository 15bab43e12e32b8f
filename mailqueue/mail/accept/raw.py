"""Accept finished messages and send them unchanged, except for a few header fields.

Bcc, Return-Path, a trace context and our own fields are removed, a missing Date or Message-ID is
added, the DKIM signature is prepended; no other byte changes.
"""

import hashlib
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from uuid import UUID, uuid4

from mailqueue.core.address import InvalidAddress, Mailbox, parse_address
from mailqueue.core.errors import InvalidField, Refusal
from mailqueue.core.storable_text import storable, unstorable
from mailqueue.core.trace_context import TRACEPARENT, only_one, with_traceparent
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept import message_headers
from mailqueue.mail.accept.shares import MAX_RECIPIENTS, Share, messages_of
from mailqueue.mail.accept.store import raw as raw_store
from mailqueue.mail.model import BatchRow
from mailqueue.mime.compose import date_header
from mailqueue.mime.parse import ShownAttachment, parse_message
from mailqueue.mime.rawhead import (
    NotAMessage,
    RawField,
    RawHead,
    addresses_in,
    check_octets,
    read_author,
    read_head,
)
from mailqueue.mime.reader import MimeLimits

MAX_OCTETS = 52_428_800
MAX_HOPS = 50
MAX_NAME_CHARACTERS = 255
"""Last characters of a file name in which its extension is looked for."""
"""Most Received fields; a message with more is in a loop."""
NO_SUBJECT = "(no subject)"

_TRACE = frozenset({TRACEPARENT, "tracestate"})
_REMOVED = frozenset({"bcc", "resent-bcc", "return-path"}) | _TRACE
# Fields that a client writes anew at each attempt; see `fingerprint`.
_FLEETING = _TRACE | {
    *("date", "message-id", "received", "user-agent", "x-mailer", "dkim-signature")
}
_BOUNDARY = re.compile(rb"boundary[ \t]*=[ \t]*\"?([^\";\s]{4,70})", re.IGNORECASE)
_MAX_BOUNDARIES = 20
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Parts that are not attachments: signatures, and the parts of delivery reports.
_NO_FILES = frozenset(
    {
        "application/pgp-encrypted",
        "application/pgp-signature",
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "message/delivery-status",
        "message/disposition-notification",
        "message/feedback-report",
        "text/rfc822-headers",
    }
)


@dataclass(frozen=True, slots=True)
class RawEmail:
    """A finished message and its envelope; lines end in CRLF.

    `options` are those of SQL's enqueue(); they take precedence over the message's own fields. With
    `is_once` the same bytes to the same recipients are one mail if they have a Message-ID, for a
    client that missed our reply and retries. `by` is the actor, for a message of several mails.
    """

    octets: bytes
    recipients: tuple[str, ...]
    has_null_sender: bool = False  # a delivery report: no bounce may be sent for it
    options: Mapping[str, object] = field(default_factory=dict)
    is_once: bool = False
    by: str = "unnamed"


@dataclass(frozen=True, slots=True)
class PreparedRaw:
    """A message as it will be sent, and the arguments of SQL's accept_raw() for each of its
    mails.
    """

    octets: bytes
    documents: Sequence[Mapping[str, object]]

    @property
    def key(self) -> str:
        """Return the idempotency key, or an empty text."""
        email = self.documents[0]["email"]
        return str(email.get("idempotency_key") or "") if isinstance(email, dict) else ""


async def accept_prepared(
    conn: Conn, emails: Sequence[PreparedRaw], *, project: str, keys: Collection[UUID] = ()
) -> list[BatchRow]:
    """Accept finished messages in one statement, all or none; return a row for each, in order.

    A message to many recipients becomes several mails; its row is that of the first. `keys` are
    those of its callers.

    Raises:
        InvalidField: one of them is refused, and nothing is stored.
        Unauthorized: one of the keys is no longer valid, and nothing is stored.
    """
    documents = [
        {**document, "octets": place}
        for place, email in enumerate(emails)
        for document in email.documents
    ]
    octets = [email.octets for email in emails]
    rows = iter(await raw_store.accept(conn, project, documents, octets, keys=keys))
    accepted = []
    for place, email in enumerate(emails):
        first, *_ = islice(rows, len(email.documents))
        accepted.append(replace(first, index=place))
    return accepted


def with_crlf(raw: bytes) -> bytes:
    """Return a message with CRLF line ends. Pure."""
    ended = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\r\n")
    return ended if ended.endswith(b"\r\n") else ended + b"\r\n"


def prepared(email: RawEmail) -> PreparedRaw:
    """Validate a message and return it as it will be sent. Pure, except for a new Message-ID and
    Date.

    Raises:
        InvalidField: naming the field and the fault.
    """
    raw = email.octets
    if len(raw) > MAX_OCTETS:
        raise InvalidField(
            "message", f"at most {MAX_OCTETS} bytes, got {len(raw)}", Refusal.TOO_LARGE
        )
    try:
        check_octets(raw)
        head = read_head(raw)
    except NotAMessage as exc:
        raise InvalidField("message", str(exc)) from None
    if len(head.named("received")) > MAX_HOPS:
        why = f"it has more than {MAX_HOPS} Received fields: a mail loop"
        raise InvalidField("message", why, Refusal.MAIL_LOOP)
    author = _author(head)
    asked = message_headers.options_of(head)
    traceparent = only_one([each.decoded for each in head.named(TRACEPARENT)])
    options = dict(with_traceparent(asked | dict(email.options), traceparent))
    if asked.get("sender", options.get("sender")) != options.get("sender"):  # by a test key
        why = (
            f"{options['sender']} must be the sender account of this email, got {asked['sender']!r}"
        )
        raise InvalidField("sender", why)
    if options.get("is_test"):  # it is sent to the trap, and names no account
        options.pop("sender", None)
    if "idempotency_key" not in options and email.is_once and head.named("message-id"):
        options["idempotency_key"] = _own_key(email, head)
    said = options | {"from_email": author.address.sent, "subject": _subject(head)}
    if author.name:
        said["from_name"] = _shown(author.name, 320)
    # Requests with the same key are compared by this text; it is not stored.
    said["text"] = fingerprint(raw, head) if "idempotency_key" in said else "-"
    everyone = _recipients(email.recipients, head)
    if fault := unstorable("", said) or unstorable("", everyone._asdict()):
        raise fault
    of_all = {"files": _files(raw), "has_null_sender": email.has_null_sender, "by": email.by}
    documents = [{"email": each} | of_all for each in messages_of(said, everyone)]
    return PreparedRaw(_finished(raw, head, author), documents)


def fingerprint(raw: bytes, head: RawHead) -> str:
    """Return a hash that is the same for every attempt of a client to send one mail. Pure.

    Attempts differ in Date, Message-ID and the boundaries between parts.
    """
    digest = hashlib.sha256()
    names = list(dict.fromkeys(_BOUNDARY.findall(raw)))[:_MAX_BOUNDARIES]
    fields = [each.octets for each in head.fields if each.name.lower() not in _FLEETING]
    for octets in (b"".join(fields), raw[head.end :]):
        for number, name in enumerate(names):
            octets = octets.replace(name, b"boundary %d" % number)
        digest.update(b"%d " % len(octets))
        digest.update(octets)
    return digest.hexdigest()


def _own_key(email: RawEmail, head: RawHead) -> str:
    digest = hashlib.sha256(b"null" if email.has_null_sender else b"")
    for address in sorted(set(email.recipients)):
        digest.update(address.encode() + b"\n")
    for each in head.fields:
        if each.name.lower() not in _TRACE | {"received", "return-path"}:
            digest.update(each.octets)
    digest.update(memoryview(email.octets)[head.end :])
    return f"message:{digest.hexdigest()}"


def _author(head: RawHead) -> Mailbox:
    found = head.named("from")
    if len(found) != 1:
        why = "the field is required once, with one address" if found else "the field is required"
        raise InvalidField("From", why)
    try:
        return read_author(found[0])
    except InvalidAddress as exc:
        raise InvalidField("From", f"one address is needed: {exc}") from None


def _subject(head: RawHead) -> str:
    return _shown(next((each.decoded for each in head.named("subject")), ""), 998) or NO_SUBJECT


def _shown(text: str, limit: int) -> str:
    return _UNSHOWN.sub(" ", text).strip()[:limit]


def _recipients(recipients: Sequence[str], head: RawHead) -> Share:
    """Return the recipients by header field; those in no header field are blind copies."""
    addresses: dict[str, str] = {}
    for text in recipients:
        try:
            addresses.setdefault(parse_address(text).sent, text.strip(" \t").lower())
        except InvalidAddress as exc:
            raise InvalidField("to", str(exc)) from None
    if not addresses:
        raise InvalidField("to", "a recipient is needed")
    if len(addresses) > MAX_RECIPIENTS:
        why = f"a message may have at most {MAX_RECIPIENTS} recipients, got {len(addresses)}"
        raise InvalidField("to", why)
    to, cc = addresses_in(head.named("to")), addresses_in(head.named("cc"))
    parted = Share([], [], [])
    for sent, spelled in addresses.items():
        names = {sent.lower(), spelled}
        (parted.to if names & to else parted.cc if names & cc else parted.bcc).append(sent)
    return parted


def _finished(raw: bytes, head: RawHead, author: Mailbox) -> bytes:
    added = b""
    if not head.named("date"):
        added += date_header(int(time.time()))
    if not head.named("message-id"):
        added += f"Message-ID: <{uuid4().hex}@{author.address.domain}>\r\n".encode()
    kept = [each.octets for each in head.fields if not _is_removed(each)]
    body = raw[head.end :] or b"\r\n"  # header fields only: an empty line ends them
    whole = b"".join((added, *kept, body))
    return whole if whole.endswith(b"\r\n") else whole + b"\r\n"


def _is_removed(each: RawField) -> bool:
    return each.name.lower() in _REMOVED or message_headers.is_control(each.name)


def _files(raw: bytes) -> list[dict[str, object]]:
    shown = parse_message(raw, MimeLimits(message_bytes=len(raw), text_bytes=MAX_OCTETS))
    if not shown.is_complete:
        raise InvalidField("message", "it has too many parts, or they are nested too deeply")
    return [
        {
            "type": one.content_type,
            "name": storable(one.filename[-MAX_NAME_CHARACTERS:]) if one.is_named else None,
            "bytes": one.size_bytes,
            "head": one.head.hex(),
        }
        for one in shown.attachments
        if _is_file(one)
    ]


def _is_file(one: ShownAttachment) -> bool:
    if one.content_type in _NO_FILES:
        return False
    return one.is_named or not one.content_type.startswith("text/")
