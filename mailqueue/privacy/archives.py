"""Erase and export a person's records in archive files."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from re import Pattern
from typing import Any
from uuid import UUID

from mailqueue.core.address import key_of
from mailqueue.core.json.reading import read_exactly
from mailqueue.core.mailboxes import ERASED_ADDRESS
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.file_format import Record
from mailqueue.maintenance.archive.manifest import FileFilter, chosen
from mailqueue.maintenance.archive.rewrite import RewriteLine, delete_leftovers, rewrite
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Archive, ArchiveState, RecordKind
from mailqueue.privacy.model import Erasure
from mailqueue.privacy.pattern import matcher_of

_COMPLETE = (
    ArchiveState.WRITTEN,
    ArchiveState.VERIFIED,
    ArchiveState.ARCHIVED,
    ArchiveState.RESTORED,
)
COUNTED_DATA = ("is_machine", "link", "country", "city", "client", "system", "device")
"""What an event of an erased person keeps of its data: the keys of `mailqueue.counted_data`."""
_BLANK = {
    "subject": "erased",
    "html_body": None,
    "text_body": "erased",
    "from_name": None,
    "reply_to": None,
    "headers": None,
    "files": None,
}


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """The person whose records of a project are erased."""

    project_id: UUID
    spellings: frozenset[str]
    matcher: Pattern[str]
    within: Pattern[str]
    """Finds the address also as a part of a longer word, such as welcome-ann@example.com."""

    def is_theirs(self, address: object) -> bool:
        return isinstance(address, str) and key_of(address) in self.spellings

    def is_named_in(self, record: Record) -> bool:
        text = record.line.decode()
        # The second search takes many times longer.
        return self.within.search(text) is not None and self.matcher.search(text) is not None


def person_of(erasure: Erasure) -> ErasedPerson:
    """Return the person of an erasure."""
    return ErasedPerson(
        erasure.project_id,
        frozenset(erasure.spellings),
        matcher_of(erasure.spellings),
        matcher_of(erasure.spellings, is_within=True),
    )


async def with_archived(
    context: MaintenanceContext, person: ErasedPerson, contents: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the contents of the person's archived mail too, without those that others also
    received, and the idempotency keys of that mail.
    """
    theirs, others, keys = dict(contents), set[str](), set[str]()
    for archive in await _archives(context, person, RecordKind.HISTORY):
        async for record in file_format.records(context.stores.at(archive.store), archive):
            mail = record.fields
            key = mail.get("idempotency_key")
            if key and any(map(person.is_theirs, _addresses(mail))):
                keys.add(key)
            if is_theirs_alone(person, mail):
                theirs[str(mail["content_id"])] = mail["content_on"]
    for archive in await _archives(context, person, RecordKind.HISTORY):
        async for record in file_format.records(context.stores.at(archive.store), archive):
            mail = record.fields
            if str(mail["content_id"]) in theirs and not is_theirs_alone(person, mail):
                others.add(str(mail["content_id"]))
    return {each: day for each, day in theirs.items() if each not in others}, sorted(keys)


async def files_of(
    context: MaintenanceContext, person: ErasedPerson, contents: Mapping[str, Any]
) -> set[str]:
    """Return the attachments of archived contents that only this person received."""
    theirs, used = set[str](), set[str]()
    for archive in await _archives(context, person, RecordKind.CONTENTS):
        async for record in file_format.records(context.stores.at(archive.store), archive):
            named = {str(one.get("id")) for one in record.fields.get("files") or ()}
            (theirs if str(record.fields["id"]) in contents else used).update(named)
    return theirs - used


async def rewrite_all(
    context: MaintenanceContext,
    person: ErasedPerson,
    contents: Mapping[str, Any],
    *,
    doomed: set[str],
) -> int:
    """Rewrite every archive file that has records of the person; return the number of changed
    records.

    `doomed` are the attachments to delete.
    """
    changed = 0
    # Mail last: its records show which contents are theirs when an erasure is resumed. Contents
    # second to last: they show which attachments are.
    for kind in (
        RecordKind.ATTACHMENTS,
        RecordKind.LOGS,
        RecordKind.EVENTS,
        RecordKind.ENGAGEMENT,
        RecordKind.CONTENTS,
        RecordKind.HISTORY,
    ):
        for archive in await _archives(context, person, kind):
            change = _change_of(kind, person, contents, doomed=doomed)
            changed += await rewrite(context, archive, change)
    await delete_leftovers(context)
    return changed


def is_theirs_alone(person: ErasedPerson, mail: Mapping[str, Any]) -> bool:
    """Return whether an archived mail had no other recipient. Pure."""
    addresses = _addresses(mail)
    return all(person.is_theirs(one) or one == ERASED_ADDRESS for one in addresses) and any(
        map(person.is_theirs, [mail["recipient_email"], *addresses])
    )


def _addresses(mail: Mapping[str, Any]) -> list[str]:
    """Return the recipients of an archived mail. Pure."""
    listed = [one["address"] for one in mail.get("email_recipients") or ()]
    return listed or [mail["recipient_email"]]


async def _archives(
    context: MaintenanceContext, person: ErasedPerson, kind: RecordKind
) -> list[Archive]:
    found = await chosen(context.conn, FileFilter(kind=kind), states=_COMPLETE)
    return [each for each in found if each.project_id == person.project_id]


def _change_of(
    kind: RecordKind, person: ErasedPerson, contents: Mapping[str, Any], *, doomed: set[str]
) -> RewriteLine:
    def change(_: int, record: Record) -> bytes | None:
        if kind is RecordKind.CONTENTS and str(record.fields["id"]) in contents:
            return _written({**_exact(record), **_BLANK})
        if kind is RecordKind.ATTACHMENTS:
            return None if str(record.fields["id"]) in doomed else _attachment(person, record)
        if not person.is_named_in(record):
            return record.line
        return _redacted(person, _anonymous(kind, person, record))

    return change


def _anonymous(kind: RecordKind, person: ErasedPerson, record: Record) -> bytes:
    """Return a record without its data about the person."""
    mail = _exact(record)
    if kind is RecordKind.HISTORY:
        is_alone = is_theirs_alone(person, mail)
        if person.is_theirs(mail["recipient_email"]):
            mail |= {"recipient_name": None, "last_error": None}
        if is_alone:
            mail |= dict.fromkeys(
                ("custom_data", "idempotency_key", "message_id", "provider_message_id")
            )
        elif person.within.search(str(mail.get("idempotency_key"))):
            mail |= {"idempotency_key": None}
        mail |= _without_words(person, mail)
        for one in mail.get("email_recipients") or ():
            if person.is_theirs(one["address"]):
                one |= {"name": None, "reason": None}
    elif kind is RecordKind.LOGS:
        if person.is_theirs(mail.get("recipient_email")):
            mail |= {"reply": None, "message_id": None, "custom_data": None}
            mail |= _without_words(person, mail)
        if "conversation" in mail:  # it names all recipients of a mail, in any spelling
            mail["conversation"] = None
    elif kind in (RecordKind.EVENTS, RecordKind.ENGAGEMENT) and person.is_theirs(
        mail.get("recipient_email")
    ):
        data = mail.get("data") or {}
        mail |= {
            "detail": None,
            "data": {name: data[name] for name in COUNTED_DATA if name in data} or None,
        }
    return _written(mail)


def _without_words(person: ErasedPerson, mail: Mapping[str, Any]) -> dict[str, Any]:
    """Return the campaign and the tags of a mail to the person, without the address. Pure."""
    campaign, tags = mail.get("campaign_id"), mail.get("tags")
    found: dict[str, Any] = {}
    if campaign:
        found["campaign_id"] = person.within.sub(ERASED_ADDRESS, campaign)
    if tags:
        found["tags"] = [person.within.sub(ERASED_ADDRESS, tag) for tag in tags]
    return found


def _attachment(person: ErasedPerson, record: Record) -> bytes:
    """Return an attachment that others received too, with the person's address replaced, length
    unchanged.
    """
    fields = _exact(record)
    octets = bytes.fromhex(str(fields.get("octets") or "").removeprefix("\\x"))
    text = octets.decode("latin-1")
    found = person.matcher.sub(lambda one: "x" * len(one[0]), text)
    if found != text:
        changed = found.encode("latin-1")
        fields |= {
            "octets": "\\x" + changed.hex(),
            "sha256": "\\x" + hashlib.sha256(changed).hexdigest(),
        }
        return _redacted(person, _written(fields))
    return _redacted(person, record.line) if person.is_named_in(record) else record.line


def _redacted(person: ErasedPerson, line: bytes) -> bytes:
    return person.matcher.sub(ERASED_ADDRESS, line.decode()).encode()


def _exact(record: Record) -> dict[str, Any]:
    """Parse a record so that it is written with the same numbers."""
    try:
        found: dict[str, Any] = json.loads(record.line, parse_float=_number)
    except (ValueError, RecursionError):  # nested deeper or larger than anything accepted today
        found = read_exactly(record.line)
    return found


def _number(text: str) -> float | str:
    number = float(text)
    return text if math.isinf(number) else number


def _written(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode()
