"""The sender accounts of a project in the console."""

import re

import pytest

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations import pausing
from mailqueue.operations.pausing import PauseKind, Target
from mailqueue.senders import accounts
from mailqueue.senders.trap_account import point_to_trap
from tests import make
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio


async def test_pages_say_where_emails_go_without_a_sender_account(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn:
        await make.project(conn, "shop")
        await point_to_trap(conn, port=2525)
        async with console.visitor() as visitor:
            await visitor.log_in("ann")
            for page in ("senders", "overview"):
                path = f"/console/projects/shop/{page}"
                assert "go to the mail trap and reach nobody" in (await visitor.get(path)).text
            await point_to_trap(conn, port=None)
            for page in ("senders", "overview"):
                path = f"/console/projects/shop/{page}"
                assert "of this project wait until" in (await visitor.get(path)).text


async def test_the_page_of_an_account_says_what_it_does_and_why(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        project = await make.project(conn, "shop")
        account = await make.sender_account(
            conn, project_id=project, name="relay", daily_limit=500, rate_per_second=20
        )
        await visitor.log_in("ann")
        [listed] = re.findall(
            r'href="(/console/projects/shop/senders/[^"]+)"',
            (await visitor.get("/console/projects/shop/senders")).text,
        )
        shown = (await visitor.get(listed)).text
        assert "500 left of 500" in shown
        assert "20.0 recipients a second" in shown
        assert "/console/projects/shop/pauses/new?kind=sender&amp;name=relay" in shown

        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET status = 'suspended',"
            " status_reason = '535 account closed' WHERE id = %s",
            (account,),
        )
        suspended = (await visitor.get(listed)).text
        assert "535 account closed" in suspended
        assert f"{listed}/activate" in suspended
        assert "pauses/new" not in suspended
        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET status = 'active', warm_up = '{10,20}'"
            " WHERE id = %s",
            (account,),
        )
        warming = (await visitor.get("/console/projects/shop/senders")).text
        assert "warming up</span>" in warming
        assert "pauses/new?kind=sender&amp;name=relay" in warming
        other = await make.project(conn, "blog")
        await make.sender_account(conn, project_id=other, name="other")
        unknown = listed.replace("/shop/", "/blog/")
        assert (await visitor.get(unknown)).status_code == 404
        assert (await visitor.get("/console/projects/shop/senders/%00")).status_code == 404


async def test_a_pause_and_its_end_leave_a_suspended_account_as_it_is(conn: Conn) -> None:
    """Only who has mended the cause activates it: `mailqueue sender resume`."""
    project = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=project, name="relay", status="suspended")
    target = Target(PauseKind.SENDER, "shop", "relay")
    with pytest.raises(NotFound):
        await pausing.resume(conn, target, by="tests")
    with pytest.raises(InvalidField, match="suspended"):
        async with conn.transaction():
            await pausing.pause(
                conn, target, until=None, reason=None, by="tests", advance=lambda _: None
            )
    with pytest.raises(InvalidField, match="suspended"):
        await accounts.pause(conn, "shop", name="relay", reason=None, until=None)
    query = "SELECT status FROM mailqueue.sender_accounts WHERE name = 'relay'"
    assert await make.scalar(conn, query) == "suspended"
    await accounts.resume(conn, "shop", name="relay")
    assert await make.scalar(conn, query) == "active"
