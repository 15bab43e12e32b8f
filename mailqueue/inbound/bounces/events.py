"""Convert a bounce message into events: proved failures count, all others are stored without
effect.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.events.model import Type
from mailqueue.inbound.bounces import store
from mailqueue.inbound.bounces.model import BounceKind, Fate, ParsedBounce, ReportedRecipient
from mailqueue.inbound.bounces.proof import Proof, prove
from mailqueue.inbound.bounces.reading import read_bounce
from mailqueue.inbound.bounces.returned import addresses_in
from mailqueue.inbound.bounces.submitted import RECIPIENT, SENDER, message_of
from mailqueue.inbound.bounces.tree import DEFAULT_LIMITS, read_tree
from mailqueue.ports.inbound import BadEvent, InboundRequest, ProviderEvent
from mailqueue.tracking.keyring import Keyring

TOLD_OF = ("Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To")
"""Header fields in which servers record the recipient of a message."""
MAX_DETAIL_CHARACTERS = 1_000

TYPE_BY_FATE = {
    Fate.HARD: Type.HARD_BOUNCE,
    Fate.SOFT: Type.SOFT_BOUNCE,
    Fate.POLICY: Type.SOFT_BOUNCE,
    Fate.DELAYED: Type.DEFERRED,
    Fate.DELIVERED: Type.DELIVERED,
    Fate.COMPLAINED: Type.COMPLAINT,
}
IGNORED = "ignored: a rule of the project names its sender"
"""What is stored of bounce mail whose sender an inbound rule names."""
OPT_OUT = frozenset({"opt-out", "opt-out-list"})


async def bounce_events(
    conn: Conn,
    keyring: Keyring,
    request: InboundRequest,
    *,
    project_id: UUID | None,
    now: datetime,
    is_bypassing: bool = False,
) -> Sequence[ProviderEvent | BadEvent]:
    """Read a bounce message and return the events it proves.

    The request's query holds the envelope where it is known. A recipient that nothing proves yields
    an event without a type: it is stored with the reason and changes nothing. So is mail of a
    sender whom a rule of the project names, unless `is_bypassing`.

    Raises:
        ConfigError, Locked, SealBroken: the key that signed the return path cannot be opened here
            now.
    """
    handed = message_of(request)
    if isinstance(handed, BadEvent):
        return [handed]
    request = handed
    is_null_sender = request.query.get(SENDER) in ("", "<>")
    reading = await asyncio.to_thread(read_bounce, request.body, is_null_sender=is_null_sender)
    if not reading.recipients:
        return [ProviderEvent(None, _kind(reading), detail=reading.why)]
    found = await prove(
        conn,
        keyring,
        reading,
        received_by=_received_by(request),
        project_id=project_id,
        now=now,
    )
    if isinstance(found, str):
        return [_unproved(reading, told, found) for told in reading.recipients]
    if not is_bypassing and await store.is_ignored(conn, found.mail.project_id, _senders(request)):
        return [ProviderEvent(None, IGNORED, detail=reading.why)]
    return [_event(request, reading, told, found) for told in reading.recipients]


def _received_by(request: InboundRequest) -> list[str]:
    root = read_tree(request.body[: DEFAULT_LIMITS.header_bytes]).root
    told = [value for name in TOLD_OF for value in root.values(name)]
    return [*filter(None, [request.query.get(RECIPIENT)]), *told]


def _senders(request: InboundRequest) -> list[str]:
    """Return the addresses that bounce mail is from: its From field, and the envelope's sender."""
    root = read_tree(request.body[: DEFAULT_LIMITS.header_bytes]).root
    given = [request.query.get(SENDER, ""), *root.values("From")]
    return [address for text in given for address in addresses_in(text)]


def _kind(reading: ParsedBounce, reported: ReportedRecipient | None = None) -> str:
    if reported is None:
        return reading.kind.value
    return " ".join(
        filter(None, (reading.kind.value, reported.reason.fate.value, reported.reason.code))
    )


def _unproved(reading: ParsedBounce, reported: ReportedRecipient, why: str) -> ProviderEvent:
    return ProviderEvent(
        None,
        f"{_kind(reading, reported)}, not proved: {why}",
        recipient=reported.recipient or None,
        code=reported.reason.code or None,
        message_id=reading.returned.message_id or None,
        detail=reported.detail[:MAX_DETAIL_CHARACTERS] or None,
    )


def _event(
    request: InboundRequest, reading: ParsedBounce, reported: ReportedRecipient, proof: Proof
) -> ProviderEvent:
    recipient = proof.recipient_of(reported)
    if recipient is None and not proof.is_signed:
        why = "the mail with its Message-ID was not sent to the recipient it names"
        return _unproved(reading, reported, why)
    what = _type(reported)
    if what is None:
        return ProviderEvent(None, _kind(reading, reported), detail=reported.detail or reading.why)
    is_complaint = reading.kind is BounceKind.COMPLAINT
    return ProviderEvent(
        type=what.value,
        source=(BounceKind.COMPLAINT if is_complaint else BounceKind.REPORT).value,
        kind=_kind(reading, reported),
        event_id=_event_id(request, proof.mail.id, recipient, what),
        email_id=proof.mail.id,
        recipient=recipient or reported.recipient or None,
        code=reported.reason.code or None,
        detail=reported.detail[:MAX_DETAIL_CHARACTERS] or None,
        data=_data(reading, reported, proof),
    )


def _type(reported: ReportedRecipient) -> Type | None:
    if reported.reason.fate is Fate.COMPLAINED and reported.feedback in OPT_OUT:
        return Type.UNSUBSCRIBED
    return TYPE_BY_FATE.get(reported.reason.fate)


def _event_id(request: InboundRequest, email_id: UUID, recipient: str | None, what: Type) -> str:
    """Return the event id: one permanent failure per mail and recipient, however often it is
    reported.

    A delay may be reported several times; each message has an id of its own.
    """
    about = f"{email_id} {(recipient or '').lower()} {what.value}"
    if what is not Type.DEFERRED:
        return about
    root = read_tree(request.body[: DEFAULT_LIMITS.header_bytes]).root
    name = root.header("Message-ID") or hashlib.sha256(request.body).hexdigest()
    return f"{about} {name[:300]}"


def _data(reading: ParsedBounce, reported: ReportedRecipient, proof: Proof) -> dict[str, object]:
    known: dict[str, object] = {
        "format": reading.kind.value,
        "cause": reported.reason.cause.value,
        "proof": "return_path" if proof.is_signed else "message_id",
        "reporter": reading.reporter[:200],
        "remote": reported.remote[:200],
        "feedback": reported.feedback,
    }
    if reported.reason.fate is Fate.POLICY:
        known["is_about_us"] = True
    if reported.reason.fate is Fate.DELIVERED or reading.kind is BounceKind.COMPLAINT:
        del known["cause"]
    return {name: value for name, value in known.items() if value}
