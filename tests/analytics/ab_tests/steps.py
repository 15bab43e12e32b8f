"""Creates A/B tests, sends them, and lets time pass and a worker evaluate them."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from mailqueue.analytics.ab_tests import requests
from mailqueue.analytics.ab_tests.handler import AbTestHandler
from mailqueue.contract.automation.ab_tests import AbTest, AbTestRecipient
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.working import work_once

CHUNK = 10
"""Emails of a chunk in tests: the others are sent in several."""
SUBJECTS = ({"name": "A", "share": 50, "subject": "Hello"}, {"name": "B", "share": 50})


def wanted(**fields: Any) -> dict[str, Any]:
    """Return a test of two subjects, with other fields in place of its own."""
    return {
        "name": "Spring",
        "subject": "Spring is here",
        "html": "<p>Hello</p>",
        "variants": list(SUBJECTS),
        "min_sample": 5,
        **fields,
    }


async def created(conn: Conn, project: str = "default", **fields: Any) -> AbTest:
    """Create a test."""
    return await requests.create(conn, project, wanted(**fields), by="tests")


async def sent_to(
    conn: Conn, test_id: UUID, count: int, *, first: int = 0, project: str = "default"
) -> list[AbTestRecipient]:
    """Send a test to person<number>@example.com; return what became of each."""
    people = [{"recipient": f"person{n}@example.com"} for n in range(first, first + count)]
    return await requests.add(conn, project, test_id, people)


async def finished(conn: Conn, ids: Sequence[UUID | None], status: str = "sent") -> None:
    """End queued emails with a status."""
    found = [one for one in ids if one is not None]
    await conn.execute(
        "SELECT mailqueue.retire_emails(%(ids)s::uuid[], NULL,"
        " array_fill(%(status)s::text, ARRAY[cardinality(%(ids)s::uuid[])]),"
        " array_fill('x'::text, ARRAY[cardinality(%(ids)s::uuid[])]), NULL, NULL)",
        {"ids": found, "status": status},
    )


async def happened(
    conn: Conn, ids: Sequence[UUID | None], type_: str = "opened", *, is_machine: bool = False
) -> None:
    """Insert an event of each email."""
    data = '{"is_machine": true}' if is_machine else "{}"
    for email in ids:
        await make.inserted(
            conn,
            "email_events",
            {
                "project_id": await make.scalar(
                    conn, "SELECT project_id FROM mailqueue.email_history WHERE id = %s", email
                ),
                "email_id": email,
                "type": type_,
                "recipient_email": "x@example.com",
                "data": data,
            },
        )


async def time_over(conn: Conn, test_id: UUID) -> None:
    """Let the time of a test be over, so that it is due."""
    await conn.execute(
        "UPDATE mailqueue.ab_tests SET started_at = started_at - evaluate_after,"
        " created_at = created_at - evaluate_after, run_at = now() - interval '1 s'"
        " WHERE id = %s",
        (test_id,),
    )


async def worked(database: DatabaseSettings) -> int:
    """Let a worker claim once; return the number of tests that it handled."""
    return await work_once(database, "ab-tests", AbTestHandler(database, chunk=CHUNK))


def of_variant(rows: Sequence[AbTestRecipient], name: str) -> list[UUID | None]:
    """Return the ids of the emails of a variant."""
    return [one.id for one in rows if one.variant == name]


async def subjects(conn: Conn, test_id: UUID, *, is_sample: bool) -> Counter[str]:
    """Return how many emails of a test have each subject, sent or queued."""
    found = await make.rows(
        conn,
        "SELECT c.subject FROM mailqueue.ab_test_recipients AS r"
        " JOIN (SELECT id, content_id, content_on FROM mailqueue.email_queue"
        " UNION ALL SELECT id, content_id, content_on FROM mailqueue.email_history) AS q"
        " ON q.id = r.email_id"
        " JOIN mailqueue.email_contents AS c ON c.id = q.content_id AND c.created_on = q.content_on"
        " WHERE r.ab_test_id = %s AND r.is_sample = %s",
        test_id,
        is_sample,
    )
    return Counter(row[0] for row in found)
