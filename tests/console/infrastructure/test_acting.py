"""Pausing all sending and draining workers in the console."""

import pytest

from mailqueue.operations import platform
from tests import make
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

PATH = "/console/infrastructure"
PAUSE, RESUME, DRAIN = f"{PATH}/pause", f"{PATH}/resume", f"{PATH}/drain"


async def test_all_sending_is_paused_and_every_page_says_so(console: Visiting) -> None:
    await console.add_user("ann")
    await console.add_user("ben", "viewer", "default")
    async with console.connection() as conn, console.visitor() as ann, console.visitor() as ben:
        await make.sender_account(conn)
        await make.queued_emails(conn, 3)
        await ann.log_in("ann")
        await ben.log_in("ben")
        asked = (await ann.get(PAUSE)).text
        assert "It stops 3 queued emails of all projects" in asked
        refused = await ann.submit(PAUSE, PAUSE, reason=" ")
        assert refused.status_code == 422
        assert "Say why all sending is paused" in refused.text
        sent = await ann.submit(PAUSE, PAUSE, reason="<b>an incident</b>", lasts="2h")
        assert sent.headers["location"] == f"{PATH}?done=paused"

        found = await platform.current_pause(conn)
        assert found is not None
        assert found.until is not None
        for visitor in (ann, ben):
            page = (await visitor.get("/console/projects/default/emails")).text
            assert "<b>All sending is paused</b>" in page
            assert "&lt;b&gt;an incident&lt;/b&gt;" in page
            assert str(found.actor) in page
            assert (RESUME in page) is (visitor is ann)
        assert RESUME in (await ann.get(PATH)).text
        assert (await ben.get(PAUSE)).status_code == 403

        assert "It lets 3 queued emails go" in (await ann.get(RESUME)).text
        await ann.submit(RESUME, RESUME)
        assert await platform.current_pause(conn) is None
        page = (await ann.get("/console/projects/default/emails")).text
        assert "All sending is paused" not in page


async def test_a_form_that_is_sent_twice_acts_once(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        await visitor.log_in("ann")
        fields = await visitor.form(PAUSE, PAUSE) | {"reason": "an incident", "lasts": ""}
        await visitor.post(PAUSE, fields)
        await platform.resume(conn, by="ben")
        again = await visitor.post(PAUSE, fields)

        assert again.headers["location"] == f"{PATH}?done=before"
        assert await platform.current_pause(conn) is None


async def test_a_worker_is_drained_and_resumed(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        worker = await make.worker(conn)
        await visitor.log_in("ann")
        link = f"{DRAIN}?worker={worker}"
        assert f'href="{link}"' in (await visitor.get(PATH)).text
        done = await visitor.submit(link, DRAIN)
        assert done.headers["location"] == f"{PATH}?done=drained"
        page = (await visitor.get(PATH)).text
        assert ">draining</span>" in page
        back = f"{link}&is_drained=on"
        assert f'href="{back.replace("&", "&amp;")}"' in page
        done = await visitor.submit(back, DRAIN)
        assert done.headers["location"] == f"{PATH}?done=claims"
        assert ">draining</span>" not in (await visitor.get(PATH)).text
        gone = await visitor.submit(f"{DRAIN}?worker={worker + 1}", DRAIN)
        assert gone.headers["location"] == f"{PATH}?done=over"
        for wrong in ("", "x", "-1", "99999999999", "%00"):
            assert (await visitor.get(f"{DRAIN}?worker={wrong}")).status_code == 404


async def test_the_incidents_of_a_project_lead_superadmins_to_the_pause(console: Visiting) -> None:
    await console.add_user("ann")
    await console.add_user("ben", "project_admin", "default")
    incidents = "/console/projects/default/incidents"
    async with console.visitor() as ann, console.visitor() as ben:
        await ann.log_in("ann")
        await ben.log_in("ben")
        assert f'href="{PAUSE}"' in (await ann.get(incidents)).text
        assert PAUSE not in (await ben.get(incidents)).text
