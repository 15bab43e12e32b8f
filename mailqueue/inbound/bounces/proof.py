"""Find the mail that a bounce is about, and check the proof.

Anyone can write a bounce. Two things prove one: a return path that we signed, which only the
servers on the way and the recipient see; or the Message-ID of a mail sent to the very recipient who
is reported to have failed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.inbound.bounces import store
from mailqueue.inbound.bounces.fields import without_xtext
from mailqueue.inbound.bounces.model import ParsedBounce, ReportedRecipient
from mailqueue.inbound.bounces.returned import addresses_in, parsed
from mailqueue.inbound.bounces.store import BouncedMail
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.returnpath import ReturnPath, is_in_time, is_proved, read_return_path

MAX_CLAIMS = 20


@dataclass(frozen=True, slots=True)
class Proof:
    """A mail of ours that came back; `place` is the recipient's number in the return path, 0 for
    none.

    `is_signed` is true where the return path proves it, false where the Message-ID does.
    """

    mail: BouncedMail
    is_signed: bool
    place: int = 0

    def recipient_of(self, reported: ReportedRecipient) -> str | None:
        """Return the recipient's address as our mail has it; None where the report names another
        address.

        Servers that forward report the address they forwarded to: ours is in the return path.
        """
        recipients = self.mail.recipients
        if self.is_signed and len(recipients) == 1:
            return recipients[0]
        if self.is_signed and 1 <= self.place <= len(recipients):
            return recipients[self.place - 1]
        keys = {found.key: one for one in recipients if (found := parsed(one)) is not None}
        return next((keys[key] for key in _keys(reported) if key in keys), None)


async def prove(
    conn: Conn,
    keyring: Keyring,
    reading: ParsedBounce,
    *,
    received_by: Sequence[str],
    project_id: UUID | None,
    now: datetime,
) -> Proof | str:
    """Return the mail that a bounce is about, or the reason why there is no proof.

    `received_by` are the addresses it was delivered to, from the envelope or the headers.

    Raises:
        ConfigError, Locked, SealBroken: the key that signed the mail cannot be opened here now.
    """
    why = "its return path is not one of ours"
    for claimed in _claims((*received_by, reading.returned.return_path)):
        found = await _by_return_path(conn, keyring, claimed, project_id=project_id, now=now)
        if isinstance(found, Proof):
            return found
        why = found
    message_id = reading.returned.message_id
    if not message_id:
        return f"{why}, and no Message-ID came back"
    named = [key for told in reading.recipients[:MAX_CLAIMS] for key in _keys(told)]
    mail = await store.find_by_message_id(conn, message_id, recipients=named, project_id=project_id)
    if mail is None:
        return f"{why}, and we sent no mail with the Message-ID that came back"
    return Proof(mail, is_signed=False)


async def _by_return_path(
    conn: Conn, keyring: Keyring, claimed: ReturnPath, *, project_id: UUID | None, now: datetime
) -> Proof | str:
    seals = await keyring.signer(conn, claimed.key_id)
    if seals is None or not is_proved(claimed, seals):
        return "its return path is forged"
    if not is_in_time(claimed, now):
        return "its return path is too old"
    if project_id is not None and seals.project_id != project_id:
        return "its return path belongs to another project"
    mail = await store.find_by_id(conn, claimed.email_id, project_id=seals.project_id)
    if mail is None:
        return "the mail of its return path is no longer here"
    return Proof(mail, is_signed=True, place=claimed.recipient)


def _keys(reported: ReportedRecipient) -> list[str]:
    """Return the lookup keys of the recipients that a report names."""
    spellings = (
        spelling
        for said in (reported.original_recipient, reported.recipient)
        for spelling in (said, without_xtext(said))
    )
    return [known.key for text in spellings if (known := parsed(text)) is not None]


def _claims(addresses: Iterable[str]) -> list[ReturnPath]:
    found: dict[ReturnPath, None] = {}
    for text in addresses:
        for address in addresses_in(text):
            claimed = read_return_path(address.rpartition("@")[0])
            if claimed is not None:
                found[claimed] = None
    return list(found)[:MAX_CLAIMS]
