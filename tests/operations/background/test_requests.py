"""Operations that are refused, fail, are counted first, or belong to another project."""

from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.contract.background import BackgroundOperation
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations import background
from mailqueue.operations.background import OperationVerb
from mailqueue.operations.store import background as store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.background.steps import SPRING, actions, begun, begun_as, found, worked

pytestmark = pytest.mark.anyio


async def test_a_filter_that_names_what_is_gone_ends_in_a_failure_that_is_told(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await make.queued_email(conn, subject="Spring")
        operation = await begun(conn)
        await conn.execute("""UPDATE mailqueue.bulk_operations SET filter = '{"sender": "gone"}'""")
        await worked(database)

        failed = await found(conn, operation)
        assert failed.state == "failed"
        assert "no sender account" in (failed.error or "")
        assert (await actions(conn))[-1] == ("operation.ended", "0")


@pytest.mark.parametrize(
    ("verb", "where", "field"),
    [
        ("hold", {}, "filter"),
        ("hold", {"project": "shop"}, "project"),
        ("hold", {"subjekt": "x"}, "subjekt"),
        ("hold", {"subject": ""}, "subject"),
        ("hold", {"status": "sent"}, "status"),
        ("release", {"lane": "urgent"}, "lane"),
        ("resend", {"subject": "x"}, "verb"),
    ],
)
async def test_what_cannot_be_meant_is_refused_by_name(
    conn: Conn, verb: str, where: dict[str, str], field: str
) -> None:
    project_id = await make.project_named(conn)
    for call in (
        store.begin(conn, project_id, verb=verb, where=where, reason="x", by="ann"),
        store.preview(
            conn, project_id, verb=verb, where=where, max_emails=1, max_searched=1, examples=1
        ),
    ):
        await conn.execute("SAVEPOINT before")
        with pytest.raises(InvalidField) as refused:
            await call
        assert refused.value.field == field
        await conn.execute("ROLLBACK TO before")


async def test_a_count_stops_at_its_bounds_and_says_so(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connect(database) as conn:
        project_id = await make.project_named(conn)
        for number in range(12):
            await make.queued_email(conn, subject=f"Spring {number}")
        await make.queued_email(conn, subject="Your bill")

        async def count() -> tuple[int, bool, int]:
            found = await background.count(conn, project_id, verb=OperationVerb.HOLD, where=SPRING)
            return found.emails, found.is_complete, len(found.examples)

        assert await count() == (12, True, 10)
        monkeypatch.setattr(background, "MAX_COUNTED", 7)
        assert await count() == (7, False, 10)
        monkeypatch.setattr(background, "MAX_SEARCHED", 0)
        assert await count() == (0, False, 0)


async def test_a_transaction_for_one_project_begins_stops_and_sees_nothing_of_another(
    conn: Conn,
) -> None:
    mine, other = await make.project(conn, "shop"), await make.project(conn, "blog")
    theirs = await begun(conn, project="blog")
    for call in (
        f"begin_bulk_operation('{other}', 'hold', '{{\"subject\": \"x\"}}', 'x', 'x')",
        f"stop_bulk_operation('{other}', '{theirs.id}', 'x')",
        f"preview_bulk_operation('{other}', 'hold', '{{\"subject\": \"x\"}}', 1, 1, 1)",
    ):
        await conn.execute("SAVEPOINT before")
        await conn.execute("SELECT set_config('mailqueue.project', %s, true)", (str(mine),))
        with pytest.raises(errors.InsufficientPrivilege, match="acts for another project"):
            await make.rows(conn, f"SELECT * FROM mailqueue.{call}")
        await conn.execute("ROLLBACK TO before")
    for act in (background.find(conn, mine, theirs.id), _stopped(conn, mine, theirs.id)):
        with pytest.raises(NotFound):
            await act
    assert await background.page(conn, mine, limit=10) == []


async def _stopped(conn: Conn, project_id: UUID, operation_id: UUID) -> BackgroundOperation:
    return await background.stop(conn, project_id, operation_id, by="eve")


async def test_no_more_than_a_hundred_wait_in_a_project(conn: Conn) -> None:
    for _ in range(100):
        await begun(conn)
    with pytest.raises(Conflict, match="100 operations"):
        await begun(conn)


async def test_a_hundred_of_test_keys_leave_room_for_live_keys(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        for _ in range(100):
            await begun_as(conn, "test")
        with pytest.raises(Conflict, match="100 operations"):
            await begun_as(conn, "test")
        assert (await begun_as(conn, "live")).state == "waiting"
