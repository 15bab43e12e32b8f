"""Phones that persons connect: a code is shown on their page, and sent from the phone by WhatsApp.

The message proves whose number it is, and comes before any of ours. The account and the sender
at Twilio are those of the installation.
"""

import hashlib
import re
import secrets as randomness
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.ports.channel import PhoneSender
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import channels, whatsapp
from mailqueue.watch.store import registering as store
from mailqueue.watch.store.registering import BegunRegistration
from mailqueue.watch.whatsapp import Consent, NewPhone

PATH = "/channels/whatsapp"
"""Path that Twilio sends messages to the installation's sender to."""
WORDING = (
    "Notify me of new mail in my inboxes by WhatsApp, at the number that I send the code from."
)
"""What a person agrees to on the page."""
_MESSAGE = "Notify me of new mail: {}"
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # no sign that is read as another one
_PART = 5
_CODE = re.compile(r"\b([2-9A-Za-z]{5})[\u2010-\u2014-]([2-9A-Za-z]{5})\b")  # phones write dashes
_MAX_TRIED = 5
"""Texts of a message with the form of a code that are looked up."""


@dataclass(frozen=True, slots=True)
class PhoneCode:
    """What a person sends: the text with the code, the number to send it to, until when.

    `url` opens the message in WhatsApp.
    """

    message: str
    sender_number: str
    url: str
    expires_at: datetime


async def begin(
    conn: Conn,
    project_id: UUID,
    user_id: UUID,
    *,
    sender: PhoneSender | None,
    source: str,
    by: str,
) -> PhoneCode:
    """Return the code that a person who has consented sends within 15 minutes.

    Raises:
        Conflict: the installation has no sender.
        InvalidField: there is no such person.
    """
    if sender is None:
        raise Conflict(
            "set MAILQUEUE_TWILIO_ACCOUNT_SID, MAILQUEUE_TWILIO_AUTH_TOKEN, "
            "MAILQUEUE_TWILIO_SENDER and MAILQUEUE_TWILIO_TEMPLATE: the sender that persons "
            "write to"
        )
    signs = [randomness.choice(_ALPHABET) for _ in range(2 * _PART)]
    code = "".join(signs)
    until = await store.begin(
        conn, project_id, user_id, code=_hash_of(code), source=source, wording=WORDING, by=by
    )
    message = _MESSAGE.format(f"{code[:_PART]}-{code[_PART:]}")
    url = f"https://wa.me/{sender.sender_number.removeprefix('+')}?text={quote(message, safe='')}"
    return PhoneCode(message, sender.sender_number, url, until)


async def end(
    conn: Conn, text: str, number: str, *, sender: PhoneSender, master: MasterKey | None
) -> UUID | None:
    """Connect the phone that a text with a code came from; return the channel.

    None if the text has no code in force. A phone that is connected already has its token replaced;
    another one takes the place of the person's phone.

    Raises:
        Conflict: there is no master key.
        InvalidField: the person has too many channels.
        Locked: no access to the project's own key is granted.
    """
    for found in list(_CODE.finditer(text))[:_MAX_TRIED]:
        async with conn.transaction():
            begun = await store.take(conn, _hash_of("".join(found.groups()).upper()))
            if begun is not None:
                return await _connected(conn, begun, number, sender=sender, master=master)
    return None


def has_code(text: str) -> bool:
    """Return whether a text has the form of a message with a code. Pure."""
    return _CODE.search(text) is not None


async def record(
    conn: Conn,
    *,
    account: str,
    sender: str,
    number: str,
    message: str,
    is_out: bool,
    word: str | None,
) -> list[str]:
    """Record a message to the installation's sender for each channel of the phone.

    Return what it means for each, as `record_reply` of `whatsapp` does.
    """
    found = await store.find_channels(conn, account=account, sender=sender, number=number)
    return [
        await whatsapp.record_reply(conn, one, message, is_out=is_out, word=word) for one in found
    ]


async def _connected(
    conn: Conn,
    begun: BegunRegistration,
    number: str,
    *,
    sender: PhoneSender,
    master: MasterKey | None,
) -> UUID:
    by = f"whatsapp, begun by {begun.begun_by}"
    if begun.channel_id is not None:
        kept = (begun.phone_number, begun.sender_number, begun.twilio_sid, begun.is_opted_out)
        if kept == (number, sender.sender_number, sender.twilio_sid, False):
            one = await whatsapp.reconnect(
                conn,
                begun.project_id,
                begun.channel_id,
                auth_token=sender.auth_token,
                template_sid=sender.template_sid,
                master=master,
                by=by,
            )
            return one.id
        await channels.disconnect(conn, begun.project_id, begun.channel_id, by=by)
    new = NewPhone(
        user_id=begun.user_id,
        phone_number=number,
        twilio_sid=sender.twilio_sid,
        auth_token=sender.auth_token,
        sender_number=sender.sender_number,
        template_sid=sender.template_sid,
        consent=Consent(begun.source, begun.wording),
    )
    one = await whatsapp.add(conn, begun.project_id, new, master=master, by=by)
    return one.id


def _hash_of(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()
