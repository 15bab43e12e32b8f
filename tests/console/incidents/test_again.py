"""Incidents in the console: what failed is sent again, and what waits is moved."""

import pytest

from tests import make
from tests.console.incidents.test_incidents import INCIDENTS, begun, shop, states, worked
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio


async def test_what_failed_is_sent_again_and_the_count_says_how_many_before(
    console: Visiting,
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale", "Your bill", "Spring waits")
        await visitor.log_in("ann")
        ids = await make.rows(
            conn, "SELECT id FROM mailqueue.emails WHERE subject <> 'Spring waits'"
        )
        await conn.execute(
            "SELECT mailqueue.cancel_emails(p.id, %s, 'x') FROM mailqueue.projects AS p"
            " WHERE p.name = 'shop'",
            ([row[0] for row in ids],),
        )
        page = (await visitor.get(f"{INCIDENTS}?verb=requeue&subject=spring")).text
        nothing = (await visitor.get(f"{INCIDENTS}?verb=requeue&subject=summer")).text
        path = await begun(visitor, "requeue", subject="spring")
        await worked(console)
        after, shown = await states(conn), (await visitor.get(path)).text

    assert "Send again 1 email<" in page
    assert "1 email match" in page
    assert "No failed, expired or cancelled email in this project matches" in nothing
    assert after == {"Spring sale": "pending", "Your bill": "cancelled", "Spring waits": "pending"}
    assert "1 email queued again" in shown


async def test_what_waits_is_moved_to_the_chosen_account(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale", "Your bill")
        project = await make.project_named(conn, "shop")
        await make.sender_account(conn, project_id=project, name="backup")
        await visitor.log_in("ann")
        page = (await visitor.get(f"{INCIDENTS}?verb=move&subject=spring&to=backup")).text
        unknown = (await visitor.get(f"{INCIDENTS}?verb=move&subject=spring&to=nobody")).text
        path = await begun(visitor, "move", subject="spring", to="backup")
        await worked(console)
        shown = (await visitor.get(path)).text
        moved = await make.rows(
            conn,
            "SELECT m.subject FROM mailqueue.emails AS m JOIN mailqueue.email_queue AS q"
            " ON q.id = m.id JOIN mailqueue.lanes AS l ON l.id = q.lane_id"
            " WHERE l.route = 'backup'",
        )

    assert "Move 1 email<" in page
    assert "the sender account <bdi>backup</bdi>" in page
    assert 'id="fault-to"' in unknown
    assert "to the sender account <bdi>backup</bdi>" in shown
    assert "1 email moved" in shown
    assert moved == [("Spring sale",)]
