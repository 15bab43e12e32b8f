"""Fair: higher priorities first, no mail starves, one project's flood leaves room for others."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail
from mailqueue.mail.send.store import claims as claims_store
from tests import make
from tests.mail.claim.filling import fill
from tests.mail.claim.steps import LEASE, claim

pytestmark = pytest.mark.anyio
CRITICAL, HIGH, NORMAL, LOW = range(4)


async def tenant(conn: Conn, **columns: Any) -> UUID:
    """Make a project that can send."""
    project = await make.project(conn, **columns)
    await make.sender_account(conn, project_id=project)
    return project


async def priorities(conn: Conn, taken: Sequence[ClaimedEmail]) -> list[int]:
    found = await make.rows(
        conn,
        "SELECT priority FROM mailqueue.email_queue WHERE id = ANY (%s)",
        [email.id for email in taken],
    )
    return [row[0] for row in found]


async def test_the_highest_class_goes_first(conn: Conn) -> None:
    await make.sender_account(conn)
    for priority in (LOW, NORMAL, HIGH, CRITICAL):
        await make.queued_emails(conn, 2, priority=priority)
    worker = await make.worker(conn)
    await make.highest_class_first(conn)

    taken = [await priorities(conn, await claim(conn, worker, limit=2)) for _ in range(4)]

    assert taken == [[p, p] for p in (CRITICAL, HIGH, NORMAL, LOW)]


async def test_every_class_that_waits_gets_a_twentieth_of_the_claims(conn: Conn) -> None:
    project = await tenant(conn)
    for priority in (CRITICAL, HIGH, NORMAL, LOW):
        await fill(conn, 1000, project=project, priority=priority)
    worker = await make.worker(conn)
    await claims_store.gather_lanes(conn)

    got: Counter[int] = Counter()
    for _ in range(200):
        got.update(
            await priorities(conn, await claims_store.claim(conn, worker, limit=4, lease=LEASE))
        )

    assert {p: got[p] / 800 >= 0.05 for p in (HIGH, NORMAL, LOW)} == {1: True, 2: True, 3: True}
    assert got[CRITICAL] / 800 >= 0.8


async def test_a_class_without_mail_gives_its_turn_away(conn: Conn) -> None:
    project = await tenant(conn)
    await fill(conn, 200, project=project, priority=CRITICAL)
    worker = await make.worker(conn)
    await claims_store.gather_lanes(conn)

    sizes = [len(await claims_store.claim(conn, worker, limit=5, lease=LEASE)) for _ in range(40)]

    assert sizes == [5] * 40


async def test_a_projects_critical_flood_leaves_room_for_other_projects(conn: Conn) -> None:
    """A quarter of a batch is its share of critical mail while others wait."""
    flood, others = await tenant(conn), await tenant(conn)
    await fill(conn, 500, project=flood, priority=CRITICAL)
    await fill(conn, 500, project=others, priority=NORMAL)
    worker = await make.worker(conn)
    await make.highest_class_first(conn)

    by_project = Counter(email.project_id for email in await claim(conn, worker, limit=100))

    assert by_project == {flood: 25, others: 75}


async def test_the_share_is_for_the_project_whatever_lanes_it_uses(conn: Conn) -> None:
    flood, others = await tenant(conn), await tenant(conn)
    await make.sender_account(conn, project_id=flood, name="second")
    await fill(conn, 100, project=flood, priority=CRITICAL)
    await fill(conn, 100, project=flood, priority=CRITICAL, route="second")
    await fill(conn, 500, project=others, priority=LOW)
    worker = await make.worker(conn)
    await make.highest_class_first(conn)

    by_project = Counter(email.project_id for email in await claim(conn, worker, limit=40))

    assert by_project == {flood: 10, others: 30}


async def test_critical_mail_has_the_whole_batch_while_no_other_waits(conn: Conn) -> None:
    """Bulk mail of its own project does not count as other mail."""
    project = await tenant(conn)
    await fill(conn, 500, project=project, priority=CRITICAL)
    await fill(conn, 500, project=project, priority=NORMAL)
    other = await tenant(conn)
    await fill(conn, 5, project=other, priority=LOW)
    worker = await make.worker(conn)
    await make.highest_class_first(conn)

    taken = await claim(conn, worker, limit=100)

    assert Counter(await priorities(conn, taken)) == {CRITICAL: 95, LOW: 5}


async def test_the_share_is_a_setting_of_the_class(conn: Conn) -> None:
    flood, others = await tenant(conn), await tenant(conn)
    await conn.execute("UPDATE mailqueue.lane_classes SET project_share = 0.5 WHERE priority = 0")
    await fill(conn, 500, project=flood, priority=CRITICAL)
    await fill(conn, 500, project=others, priority=NORMAL)
    worker = await make.worker(conn)
    await make.highest_class_first(conn)

    by_project = Counter(email.project_id for email in await claim(conn, worker, limit=100))

    assert by_project == {flood: 50, others: 50}


async def test_projects_take_turns_by_weight(conn: Conn) -> None:
    heavy, light = await tenant(conn, weight=300), await tenant(conn)
    await fill(conn, 2000, project=heavy, priority=NORMAL)
    await fill(conn, 2000, project=light, priority=NORMAL)
    worker = await make.worker(conn)
    await claims_store.gather_lanes(conn)

    by_project: Counter[UUID] = Counter()
    for _ in range(40):
        some = await claims_store.claim(conn, worker, limit=20, lease=LEASE)
        by_project.update(email.project_id for email in some)

    assert by_project[heavy] / by_project[light] == pytest.approx(3, rel=0.1)


async def test_a_changed_weight_holds_for_lanes_that_are_there(conn: Conn) -> None:
    project = await tenant(conn)

    await conn.execute("UPDATE mailqueue.projects SET weight = 250 WHERE id = %s", (project,))

    assert await make.rows(
        conn, "SELECT DISTINCT weight FROM mailqueue.lanes WHERE project_id = %s", project
    ) == [(250,)]
