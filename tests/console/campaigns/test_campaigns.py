"""Campaigns in the console: what waits and what was sent of each, paused or not."""

import re

import pytest

from mailqueue.operations import pausing
from tests import make
from tests.analytics import folding
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

CAMPAIGNS = "/console/projects/default/campaigns"
HOSTILE = "<b>spring"


def row_of(html: str, campaign: str) -> str:
    """Return what stands at a campaign, as text."""
    rows = [row for row in html.split("<li>")[1:] if f"<bdi>{campaign}</bdi>" in row]
    assert len(rows) == 1, f"{len(rows)} rows of {campaign}"
    return " ".join(re.sub(r"<[^>]*>", " ", rows[0].partition("</li>")[0]).split())


async def test_each_campaign_has_what_waits_what_was_sent_and_whether_it_is_paused(
    console: Visiting,
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        project = await make.project_named(conn)
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        empty = (await visitor.get(CAMPAIGNS)).text
        for _ in range(3):
            await make.queued_email(conn, campaign_id="spring")
        held = await make.queued_email(conn, campaign_id="spring")
        await make.rows(conn, "SELECT mailqueue.hold_emails(%s, %s, 'x')", project, [held])
        await make.queued_email(conn, campaign_id=HOSTILE)
        await make.queued_email(conn)
        over = [await make.queued_email(conn, campaign_id="winter") for _ in range(2)]
        await make.rows(conn, "SELECT mailqueue.cancel_emails(%s, %s, 'x')", project, over)
        await folding.caught_up(conn)
        await pausing.pause_in(
            conn,
            project,
            kind=pausing.PauseKind.CAMPAIGN,
            name="spring",
            until=None,
            reason="a <price>",
            by="ben",
        )
        shown = (await visitor.get(CAMPAIGNS)).text
        found = (await visitor.get(f"{CAMPAIGNS}?q=WIN")).text
        none = (await visitor.get(f"{CAMPAIGNS}?q=summer")).text

    assert "No campaign in the last 7 days" in empty
    assert row_of(shown, "spring") == (
        "spring 3 queued, 1 held; 0 sent, 0 failed, 0 cancelled, 0 suppressed, 0 hard bounces"
        " paused: a &lt;price&gt; paused Resume … Cancel …"
    )
    assert row_of(shown, "winter") == (
        "winter 0 queued, 0 held; 0 sent, 0 failed, 2 cancelled, 0 suppressed, 0 hard bounces done"
        " Pause …"
    )
    assert "&lt;b&gt;spring" in shown
    assert HOSTILE not in shown
    assert shown.index("spring</bdi>") < shown.index("winter</bdi>")
    assert "name=spring" in shown
    assert "winter</bdi>" in found
    assert "spring</bdi>" not in found
    assert "No campaign matches" in none


async def test_a_viewer_sees_campaigns_and_has_no_buttons(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await make.queued_email(conn, campaign_id="spring")
        await console.add_user("vic", "viewer", "default")
        await visitor.log_in("vic")
        shown = (await visitor.get(CAMPAIGNS)).text

    assert row_of(shown, "spring").startswith("spring 1 queued, 0 held; ")
    assert "sending" in shown
    assert "Pause …" not in shown
    assert "Cancel …" not in shown
