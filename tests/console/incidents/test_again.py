"""Incidents in the console: what failed is sent again, and what waits is moved."""

import pytest

from mailqueue.db.fetch import Conn
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


async def test_what_was_moved_away_from_an_account_is_moved_back_from_the_page_of_the_move(
    console: Visiting,
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale", "Your bill")
        project = await make.project_named(conn, "shop")
        for name in ("relay2", "backup"):
            await make.sender_account(conn, project_id=project, name=name)
        await visitor.log_in("ann")
        await begun(visitor, "move", subject="spring", to="relay2")
        await worked(console)
        away = await begun(visitor, "move", sender="relay2", to="backup")
        waiting = (await visitor.get(away)).text
        await worked(console)
        gone, moved = await routes(conn), (await visitor.get(away)).text
        await begun(visitor, "move", sender="backup", to="relay2")
        await worked(console)
        back = await routes(conn)
        viewed = await begun(visitor, "move", subject="spring", to="backup")
        await worked(console)
        elsewhere = (await visitor.get(viewed)).text

    assert (gone["Spring sale"], back["Spring sale"]) == ("backup", "relay2")
    assert gone["Your bill"] == back["Your bill"]
    link = "verb=move&amp;to=relay2&amp;sender=backup"
    assert (link in waiting, link in moved) == (False, True), "once it is over"
    assert "Move them back" not in elsewhere, "it is not known from which account"


async def test_a_condition_on_an_account_that_is_not_there_is_refused(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn, "Spring sale")
        await visitor.log_in("ann")
        page = (await visitor.get(f"{INCIDENTS}?verb=hold&sender=nobody")).text

    assert 'id="fault-sender"' in page
    assert "1 email match" not in page


async def routes(conn: Conn) -> dict[str, str]:
    found = await make.rows(
        conn,
        "SELECT m.subject, l.route FROM mailqueue.emails AS m JOIN mailqueue.email_queue AS q"
        " ON q.id = m.id JOIN mailqueue.lanes AS l ON l.id = q.lane_id",
    )
    return {row[0]: row[1] for row in found}
