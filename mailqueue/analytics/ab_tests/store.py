"""SQL of A/B tests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.errors import ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.analytics.ab_tests.decision import AbTestAnswer
from mailqueue.contract.automation.ab_tests import (
    AbTest,
    AbTestRecipient,
    AbTestSummary,
    AbTestVariant,
)
from mailqueue.core.errors import Conflict
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import part_refusals, refusals
from mailqueue.db.statements.analytics import ab_tests as sql


class TakenTest(NamedTuple):
    """What is to be done about a test, and its counts by variant if it is due."""

    state: str
    metric: str
    alpha: float
    min_sample: int
    sent: list[int]
    opened: list[int]
    clicked: list[int]


async def create(conn: Conn, project: str, wanted: Mapping[str, Any], *, by: str) -> UUID:
    """Create a test; return its id.

    Raises:
        InvalidField: a field is refused.
        Conflict: the project has too many tests that are not finished.
    """
    options = with_wire_domains(wanted.get("options") or {})
    asked = {"project": project, "test": Jsonb({**wanted, "options": options}), "by": by}
    try:
        with refusals():
            return await fetch.value(conn, sql.CREATE_AB_TEST, asked, UUID)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def add(
    conn: Conn, project: str, test_id: UUID, recipients: Sequence[Mapping[str, Any]]
) -> list[AbTestRecipient]:
    """Send a test to recipients; return what became of each, in order.

    Raises:
        InvalidField: there is no such test, or the list is empty or too long.
        Conflict: the test takes no more recipients.
    """
    asked = {"project": project, "id": test_id, "recipients": Jsonb(list(recipients))}
    try:
        with part_refusals():
            return await fetch.many(conn, sql.ADD_AB_TEST_RECIPIENTS, asked, AbTestRecipient)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def page(
    conn: Conn, project_id: UUID | None, *, before: UUID | None, limit: int
) -> list[AbTestSummary]:
    """Return tests of a project, or of all, newest first."""
    asked = {"project_id": project_id, "before": before, "limit": limit}
    return await fetch.many(conn, sql.LIST_AB_TESTS, asked, AbTestSummary)


async def find(conn: Conn, project_id: UUID | None, test_id: UUID) -> AbTest | None:
    """Return a test with its variants, or None if there is none."""
    asked = {"project_id": project_id, "id": test_id}
    found = await fetch.maybe(conn, sql.FIND_AB_TEST, asked, AbTest)
    return None if found is None else replace(found, variants=_variants_of(found.variants))


async def decide(conn: Conn, project_id: UUID, test_id: UUID, *, variant: str, by: str) -> bool:
    """Make a variant the winner; return False where the test is decided or over.

    Raises:
        InvalidField: the test has no such variant.
    """
    asked = {"project_id": project_id, "id": test_id, "variant": variant, "by": by}
    with refusals():
        return await fetch.value(conn, sql.DECIDE_AB_TEST, asked, bool)


async def cancel(conn: Conn, project_id: UUID, test_id: UUID, *, by: str) -> bool:
    """Cancel a test; return False where it is over or cancelled already."""
    asked = {"project_id": project_id, "id": test_id, "by": by}
    return await fetch.value(conn, sql.CANCEL_AB_TEST, asked, bool)


async def take(conn: Conn, test_id: UUID, *, claim_no: int) -> TakenTest:
    """Return what is to be done about a test, whose row stays locked."""
    asked = {"id": test_id, "claim_no": claim_no}
    return await fetch.one(conn, sql.TAKE_AB_TEST, asked, TakenTest)


async def record(
    conn: Conn, test_id: UUID, *, claim_no: int, taken: TakenTest, answer: AbTestAnswer
) -> None:
    """Store the answer of an evaluation with the counts that decided."""
    asked = {
        "id": test_id,
        "claim_no": claim_no,
        "result": answer.result,
        "winner": None if answer.winner is None else answer.winner + 1,
        "sent": taken.sent,
        "opened": taken.opened,
        "clicked": taken.clicked,
        "p_values": list(answer.p_values),
    }
    await fetch.run(conn, sql.RECORD_AB_TEST, asked)


async def advance(conn: Conn, test_id: UUID, *, claim_no: int, limit: int) -> str:
    """Accept mail to the next recipients that waited; return `more`, `done`, `cancelled`, `lost`.

    Raises:
        InvalidField: a content is refused, such as a template that was deleted.
        ProjectFull: the project may have no more mail now.
    """
    asked = {"id": test_id, "claim_no": claim_no, "limit": limit}
    with part_refusals():
        return await fetch.value(conn, sql.CONTINUE_AB_TEST, asked, str)


def _variants_of(rows: Sequence[Any]) -> list[AbTestVariant]:
    """Return variants, which are read as JSON, as such. Pure."""
    versions = (row["template_version_id"] for row in rows)
    return [
        AbTestVariant(**{**row, "template_version_id": None if version is None else UUID(version)})
        for row, version in zip(rows, versions, strict=True)
    ]
