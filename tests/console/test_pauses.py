"""Pauses in the console: by form, once, for one project, with what is wrong at its field."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.mail.claim.steps import claim
from tests.rows import each_row

pytestmark = pytest.mark.anyio

PAUSES = "/console/projects/shop/pauses"


async def shop(console: Visiting, conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=project, name="relay")
    await console.add_user("ann", "project_admin", "shop")


AtShop = tuple[Conn, Visitor]


@pytest.fixture
async def at_shop(console: Visiting) -> AsyncIterator[AtShop]:
    """A connection, and an administrator of the shop who has logged in."""
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn)
        await visitor.log_in("ann")
        yield conn, visitor


async def paused(visitor: Visitor, **fields: str) -> int:
    form = await visitor.form(f"{PAUSES}/new", f"{PAUSES}/new")
    return (await visitor.post(f"{PAUSES}/new", form | fields)).status_code


@pytest.mark.parametrize(
    ("kind", "name"),
    [("campaign", "spring"), ("domain", "example.com"), ("sender", "relay"), ("project", "")],
)
async def test_what_is_paused_waits_until_it_is_resumed(
    console: Visiting, kind: str, name: str
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn)
        project = await make.project_named(conn, "shop")
        await make.queued_email(
            conn, project_id=project, campaign_id="spring", recipient_email="ann@example.com"
        )
        await visitor.log_in("ann")
        assert await paused(visitor, kind=kind, name=name, lasts="2h", reason="wrong price") == 303
        shown = await visitor.get(f"{PAUSES}?done=paused")
        assert "wrong price" in shown.text
        query = f"kind={kind}&name={name or 'shop'}"
        form = await visitor.form(f"{PAUSES}/end?{query}", f"{PAUSES}/end")
        waits = await make.scalar(conn, "SELECT count(*) FROM mailqueue.paused")
        first = await visitor.post(f"{PAUSES}/end", form)
        again = await visitor.post(f"{PAUSES}/end", form)

        assert waits == 1
        assert first.headers["location"].endswith("done=resumed")
        assert again.headers["location"].endswith("done=before")
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.paused") == 0
        assert len(await claim(conn, await make.worker(conn))) == 1
        actors = "SELECT DISTINCT actor FROM mailqueue.audit_events WHERE action LIKE '%%ed'"
        assert any("ann (console)" in actor for (actor,) in await make.rows(conn, actors))


@each_row(
    "fields, said",
    [
        ({"kind": "campaign", "name": ""}, "Is needed."),
        ({"kind": "sender", "name": "nothing"}, "This project has no sender account"),
        ({"kind": "domain", "name": "not a domain"}, "fault-name"),
        ({"kind": "campaign", "name": "spring", "lasts": "9y"}, "fault-lasts"),
        (
            {"kind": "project", "name": "blog"},
            "Must be shop, the project",
        ),
        ({"kind": "planet", "name": "earth"}, "fault-kind"),
        ({"kind": "domain", "name": "example.com", "reason": "x" * 501}, "fault-reason"),
        (
            {"kind": "campaign", "name": "sprng"},
            "Pause this campaign before its first email is queued",
        ),
    ],
)
async def test_what_is_wrong_stands_at_its_field_and_what_was_typed_stays(
    at_shop: AtShop, fields: dict[str, str], said: str
) -> None:
    conn, visitor = at_shop
    form = await visitor.form(f"{PAUSES}/new", f"{PAUSES}/new")
    response = await visitor.post(f"{PAUSES}/new", form | fields)

    assert response.status_code == 422
    assert said in response.text
    assert f'value="{fields["name"]}"' in response.text
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.paused") == 0


async def test_a_transaction_for_one_project_pauses_nothing_of_another(conn: Conn) -> None:
    mine, other = await make.project(conn, "shop"), await make.project(conn, "blog")
    for call in (
        f"pause_in_project('{other}', 'campaign', 'spring', NULL, NULL, 'x')",
        f"resume_in_project('{other}', 'project', '', 'x')",
        f"pauses_of_project('{other}')",
    ):
        await conn.execute("SAVEPOINT before")
        await conn.execute("SELECT set_config('mailqueue.project', %s, true)", (str(mine),))
        with pytest.raises(Exception, match="acts for another project"):
            await make.rows(conn, f"SELECT * FROM mailqueue.{call}")
        await conn.execute("ROLLBACK TO before")


@pytest.mark.parametrize(
    ("kind", "name", "emails"),
    [
        ("campaign", "spring", 1),
        ("domain", "example.com", 2),
        ("sender", "relay", 2),
        ("project", "", 2),
    ],
)
async def test_the_number_of_emails_is_shown_before(
    console: Visiting, kind: str, name: str, emails: int
) -> None:
    noun = "email" if emails == 1 else "emails"
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn)
        project = await make.project_named(conn, "shop")
        for campaign in ("spring", "summer"):
            await make.queued_email(
                conn, project_id=project, campaign_id=campaign, recipient_email="ann@example.com"
            )
        await visitor.log_in("ann")
        asked = (await visitor.get(f"{PAUSES}/new?kind={kind}&name={name}")).text
        form = await visitor.form(f"{PAUSES}/new", f"{PAUSES}/new")
        wanted = {"kind": kind, "name": name, "lasts": "2h", "reason": "wrong price"}
        counted = await visitor.post(f"{PAUSES}/new", form | wanted | {"counts": "on"})
        ended = (await visitor.get(f"{PAUSES}/end?kind={kind}&name={name}")).text

        assert f"It stops {emails} queued {noun}" in asked
        assert f"It stops {emails} queued {noun}" in counted.text
        assert 'value="wrong price"' in counted.text
        assert f"It lets {emails} queued {noun} go" in ended
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.paused") == 0


async def test_a_project_and_its_accounts_lead_to_their_pauses(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn)
        await console.add_user("ben", "support", "shop")
        await visitor.log_in("ann")
        for page in ("overview", "senders"):
            text = (await visitor.get(f"/console/projects/shop/{page}")).text
            assert f'href="{PAUSES}/new?kind=sender&amp;name=relay"' in text
        overview = (await visitor.get("/console/projects/shop/overview")).text
        assert f'href="{PAUSES}/new?kind=project"' in overview
        assert f'href="{PAUSES}/new?kind=campaign"' in overview
        await paused(visitor, kind="sender", name="relay", lasts="")
        await paused(visitor, kind="project", name="", lasts="")
        overview = (await visitor.get("/console/projects/shop/overview")).text
        assert f'href="{PAUSES}/end?kind=project&amp;name=shop"' in overview
        assert f'href="{PAUSES}/end?kind=sender&amp;name=relay"' in overview
        async with console.visitor() as other:
            await other.log_in("ben")
            assert PAUSES + "/" not in (await other.get("/console/projects/shop/overview")).text


@each_row("name", ["a b", "@", "..", "%00", "x" * 300, "<script>"])
async def test_whatever_is_named_is_counted(at_shop: AtShop, name: str) -> None:
    _, visitor = at_shop
    for kind in ("campaign", "domain", "sender", "project"):
        for page in ("new", "end"):
            answer = await visitor.get(f"{PAUSES}/{page}?kind={kind}&name={name}")
            assert answer.status_code == 200, (kind, page)
    assert (await visitor.get(f"{PAUSES}/new?kind=platform&name=x")).status_code == 200
    assert (await visitor.get(f"{PAUSES}/end?kind=platform&name=x")).status_code == 422


async def test_a_campaign_is_paused_before_its_first_email_where_that_is_asked(
    console: Visiting,
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await shop(console, conn)
        await visitor.log_in("ann")
        form = await visitor.form(f"{PAUSES}/new", f"{PAUSES}/new")
        asked = form | {"kind": "campaign", "name": "autumn", "is_ahead": "on"}

        assert (await visitor.post(f"{PAUSES}/new", asked)).status_code == 303
        assert await make.scalar(conn, "SELECT name FROM mailqueue.paused") == "autumn"
