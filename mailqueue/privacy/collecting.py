"""Collect what is stored about a person as lines of JSON, for a file that the person gets."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.core.address import parse_address
from mailqueue.core.json.reading import read_json
from mailqueue.core.json.writing import write_json
from mailqueue.db.pool import connect
from mailqueue.privacy import store
from mailqueue.privacy.exporting import mails, mentions
from mailqueue.privacy.model import ProjectName
from mailqueue.privacy.persons import lending
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

What only mentions an address may be about another person, such as an invitation that names who
invites: the mail of others, and requests, are not for the person that they mention.
"""
_OTHERS = frozenset({"also_to", "cc", "bcc"})
_FIRST = frozenset({"recipient_email", "recipient_name"})
"""Columns of a mail with the addresses of its other recipients, and with its first one."""
_NOT_READ = "records in files of the archive are not in this file: ask for them"


async def collect(
    database: DatabaseSettings, project_id: UUID, project: str, address: str
) -> AsyncGenerator[list[str]]:
    """Yield the mail to an address, and the rows that are about it, some at a time: each has table
    and record.

    An email has its content, events and attempts with it, under the table `mails`.

    Raises:
        InvalidAddress: the text is not an address.
    """
    spellings = parse_address(address).spellings
    named = ProjectName(project_id, project)
    async with connect(database) as conn:
        lend = lending(conn)
        async for some in mails(lend, named, spellings):
            yield await asyncio.to_thread(_mail_rows, some, spellings)
        async for table, rows in mentions(lend, named, spellings, only=OWN_BY):
            records = [(table, read_json(row)) for row in rows]
            yield [_row(*one) for one in records if _is_own(*one, spellings)]
        async with lend() as conn:
            hashes = await store.hashes(conn, project_id, spellings)
            known = await store.known_by_hash(conn, project_id, hashes)
            has_archives = await store.has_archives(conn, project_id)
        yield [_row(one.name, read_json(one.doc)) for one in known]
        if has_archives:
            yield [_row("archives", {"note": _NOT_READ})]


def _mail_rows(some: Sequence[Mapping[str, Any]], spellings: Sequence[str]) -> list[str]:
    return [_row("mails", _without_others(one, spellings)) for one in some]


def _row(table: str, record: Mapping[str, object]) -> str:
    return write_json({"table": table, "record": record}).decode()


def _is_own(table: str, record: Mapping[str, Any], spellings: Sequence[str]) -> bool:
    """Return whether a row is about the person. Pure."""
    return str(record.get(OWN_BY[table])).lower() in spellings


def _without_others(mail: Mapping[str, Any], spellings: Sequence[str]) -> dict[str, Any]:
    """Return a mail without the columns that have the addresses of its other recipients. Pure."""
    is_own = str(mail["recipient_email"]).lower() in spellings
    left_out = _OTHERS if is_own else _OTHERS | _FIRST
    return {name: value for name, value in mail.items() if name not in left_out}
