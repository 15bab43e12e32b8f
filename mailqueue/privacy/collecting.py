"""Collect what is stored about a person as lines of JSON, for a file that the person gets."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

from mailqueue.core.address import parse_address
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.privacy.exporting import export_person
from mailqueue.privacy.model import ProjectName
from mailqueue.settings.environment import DatabaseSettings

OWN_BY: Mapping[str, str] = {
    "ab_test_recipients": "recipient",
    "bounce_list": "email",
    "channel_consents": "email",
    "contacts": "email",
    "event_stream": "recipient",
    "schedule_recipients": "email_key",
    "sequence_enrollments": "email",
    "subscription_preferences": "address",
    "suppression_history": "address",
    "suppression_lines": "address",
    "suppressions": "address",
    "timed_events": "recipient",
    "unsubscribe_list": "email",
}
"""Tables whose rows are about one person, and the column with the address of that person.

What only mentions an address may be about somebody else, such as an invitation that names who
invites: the mail of others, and requests, are not for the person that they mention.
"""
_OTHERS = frozenset({"also_to", "cc", "bcc"})
_FIRST = frozenset({"recipient_email", "recipient_name"})
"""Columns of a mail with the addresses of its other recipients, and with its first one."""
_NOT_READ = "records in files of the archive are not in this file: ask for them"


async def collect(
    database: DatabaseSettings, project_id: UUID, project: str, address: str
) -> list[str]:
    """Return the mail to an address, and the rows that are about it: each has table and record.

    An email has its content, events and attempts with it, under the table `mails`.

    Raises:
        InvalidAddress: the text is not an address.
    """
    spellings = parse_address(address).spellings
    async with connect(database) as conn:
        found = await export_person(
            partial(_transaction, conn), ProjectName(project_id, project), spellings, only=OWN_BY
        )
    rows = [_row("mails", _without_others(mail, spellings)) for mail in found["mails"]]
    rows += [
        _row(table, record)
        for table, some in found["records"].items()
        for record in some
        if _is_own(table, record, spellings)
    ]
    if found["archives"]:
        rows.append(_row("archives", {"note": _NOT_READ}))
    return rows


@asynccontextmanager
async def _transaction(conn: Conn) -> AsyncIterator[Conn]:
    async with conn.transaction():
        yield conn


def _row(table: str, record: Mapping[str, object]) -> str:
    return write_json({"table": table, "record": record}).decode()


def _is_own(table: str, record: Mapping[str, Any], spellings: Sequence[str]) -> bool:
    """Return whether a row is about the person; without an address, it was found by its hash."""
    address = record.get(OWN_BY[table])
    return address is None or str(address).lower() in spellings


def _without_others(mail: Mapping[str, Any], spellings: Sequence[str]) -> dict[str, Any]:
    """Return a mail without the columns that have the addresses of its other recipients. Pure."""
    is_own = str(mail["recipient_email"]).lower() in spellings
    left_out = _OTHERS if is_own else _OTHERS | _FIRST
    return {name: value for name, value in mail.items() if name not in left_out}
