"""The dashboard leads to the first steps while no email was ever sent."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.console.test_pages import logged_in
from tests.console.visiting import Visiting
from tests.mail.claim.steps import claim, settle

pytestmark = pytest.mark.anyio
ACTIVITY = "/console/projects/default/activity"
DASHBOARD = "/console/dashboard"
STEPS = "/console/projects/default/setup"
NOTE = "No email has been sent yet."


async def one_email(conn: Conn, ending: Ending, status: LogStatus, *, project: str) -> None:
    await make.queued_email(conn, project=project)
    await settle(conn, await claim(conn, await make.worker(conn)), ending, log=status)


async def test_the_link_is_there_until_an_email_was_sent(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        empty = [(await visitor.get(path)).text for path in (DASHBOARD, ACTIVITY)]
        async with console.connection() as conn:
            await make.sender_account(conn)
            await one_email(conn, Ending.FAILED, LogStatus.FAILED, project="default")
        failed = [(await visitor.get(path)).text for path in (DASHBOARD, ACTIVITY)]
        async with console.connection() as conn:
            other = await make.project(conn, "shop")
            await make.sender_account(conn, project_id=other)
            await one_email(conn, Ending.SENT, LogStatus.SENT, project="shop")
        of_other = [(await visitor.get(path)).text for path in (DASHBOARD, ACTIVITY)]
        async with console.connection() as conn:
            await one_email(conn, Ending.SENT, LogStatus.SENT, project="default")
        sent = [(await visitor.get(path)).text for path in (DASHBOARD, ACTIVITY)]

    for page in (*empty, *failed, of_other[1]):
        assert f'{NOTE} The <a href="{STEPS}">first steps</a>' in page
    for page in (of_other[0], *sent):
        assert NOTE not in page


async def test_of_several_projects_one_is_chosen_first(console: Visiting) -> None:
    async with console.connection() as conn:
        await make.project(conn, "shop")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = (await visitor.get(DASHBOARD)).text

    assert f'{NOTE} The <a href="/console/projects">first steps</a>' in page


async def test_mail_to_the_trap_is_not_sent(console: Visiting) -> None:
    async with console.connection() as conn:
        await make.sender_account(conn, provider="trap", smtp_host="127.0.0.1", smtp_port=25)
        await one_email(conn, Ending.SENT, LogStatus.SENT, project="default")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        assert NOTE in (await visitor.get(ACTIVITY)).text


async def test_who_may_not_configure_is_not_led_there(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "support")
        page = await visitor.get(ACTIVITY)

    assert page.status_code == 200
    assert NOTE not in page.text
