"""Projects in the console: created, suspended, activated, looked at, and their settings."""

import re
from html import unescape

import pytest

from mailqueue.projects import manage as projects_manage
from mailqueue.projects.settings.registry import PROJECT_SETTINGS
from tests import make
from tests.console.test_pages import logged_in
from tests.console.visiting import Visiting
from tests.templates.pictures.drawing import stored

pytestmark = pytest.mark.anyio

SHOP = "/console/projects/default"
CHANGE = f"{SHOP}/settings/change"


def typed_of(html: str) -> dict[str, str]:
    """Return what the fields of the settings hold, as a browser would send it."""
    found = {
        name: unescape(value)
        for name, value in re.findall(r'<input id="(\w+)"[^>]*value="([^"]*)"', html)
    }
    for name, value in re.findall(r'<textarea id="(\w+)"[^>]*>\n?([^<]*)</textarea>', html):
        found[name] = unescape(value)
    for name, options in re.findall(r'<select id="(\w+)"[^>]*>(.*?)</select>', html, re.DOTALL):
        chosen = re.search(r"<option(?: value=\"([\w-]*)\")? selected>(\w*)", options)
        found[name] = "" if chosen is None else chosen[1] or chosen[2]
    return found


async def test_a_project_is_created_with_errors_at_their_fields(console: Visiting) -> None:
    path = "/console/new-project"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(path, path)
        for change, field in (
            ({"name": "Not a name"}, "name"),
            ({"name": "default"}, "name"),
            ({"name": "shop", "from_email": "<x>"}, "from_email"),
            ({"name": "shop", "display_name": "x" * 300}, "display_name"),
        ):
            response = await visitor.post(path, fields | change)
            assert response.status_code == 422, change
            assert f'id="fault-{field}"' in response.text, change
        made = await visitor.post(
            path, fields | {"name": "shop", "display_name": "The <Shop>", "from_email": ""}
        )
        page = await visitor.get(made.headers["location"])
        again = await visitor.post(path, fields | {"name": "other"})
        listed = (await visitor.get("/console/projects?q=shop")).text

    assert made.headers["location"] == "/console/projects/shop/overview?done=added"
    assert "The &lt;Shop&gt;" in page.text
    assert again.headers["location"] == "/console?done=before"
    assert "/console/projects/shop/overview" in listed
    async with console.connection() as conn:
        assert {each.name for each in await projects_manage.list_all(conn)} == {"default", "shop"}
        assert await make.scalar(
            conn, "SELECT actor FROM mailqueue.audit_events WHERE action = 'project.added'"
        ) == await make.scalar(conn, "SELECT name || ' (console)' FROM mailqueue.console_users")


async def test_a_project_is_suspended_for_a_reason_and_activated(console: Visiting) -> None:
    suspend, activate = f"{SHOP}/suspend", f"{SHOP}/activate"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        empty = await visitor.submit(suspend, suspend, reason=" ")
        long = await visitor.submit(suspend, suspend, reason="x" * 501)
        done = await visitor.submit(suspend, suspend, reason="unpaid <since> May")
        page = (await visitor.get(done.headers["location"])).text
        asked = (await visitor.get(activate)).text
        async with console.connection() as conn:
            await make.sender_account(conn, name="relay")
            email = await make.queued_email(conn, subject="Waits")
        waits = (await visitor.get(f"{SHOP}/emails/{email}")).text
        active = await visitor.submit(activate, activate)
        after = (await visitor.get(active.headers["location"])).text
        pointless = (await visitor.get(activate)).text

    assert (empty.status_code, long.status_code) == (422, 422)
    assert "x" * 501 in long.text
    for text in (page, asked, waits):
        assert "unpaid &lt;since&gt; May" in text
    assert "This project is suspended" in page
    assert "This project is suspended" not in after
    assert "active already" in pointless


async def test_the_overview_shows_accounts_limits_domains_and_bounds(console: Visiting) -> None:
    async with console.connection() as conn:
        for number in range(12):
            await make.sender_account(conn, name=f"relay-{number}", daily_limit=500)
        await projects_manage.change(
            conn, "default", changes={"max_queued_emails": 1000, "daily_limit": 40}, by="t"
        )
        await make.queued_email(conn)
        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET status = 'paused', status_reason = 'moving'"
            " WHERE name = 'relay-0'"
        )
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        page = (await visitor.get(f"{SHOP}/overview")).text
        senders = (await visitor.get(f"{SHOP}/senders")).text

    assert "relay-3" in page
    assert "0 of 500" in page
    assert ">2 more<" in page
    assert "1 of 1,000" in page
    assert "No domain has a DKIM key" in page
    assert "Suspend" not in page, "a viewer may not"
    assert "moving" in senders
    assert senders.count('role="row"') == 13


async def test_every_setting_is_shown_with_its_meaning_and_those_changed_are_marked(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        await projects_manage.change(
            conn, "default", changes={"weight": 300, "track_opens": True}, by="t"
        )
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = (await visitor.get(f"{SHOP}/settings")).text
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        seen = (await visitor.get(f"{SHOP}/settings")).text

    for each in PROJECT_SETTINGS:
        assert f'id="{each.name}"' in page, each.name
        assert each.meaning.replace("`", "") in unescape(page), each.name
    marked = set(re.findall(r'<label for="(\w+)">[^\n]*changed</span>', page))
    assert {"weight", "track_opens"} <= marked
    assert not marked & {"burst", "track_clicks", "description", "attachment_types", "time_zone"}
    assert "Save the settings" not in seen
    assert seen.count("<fieldset") == seen.count("disabled>")


async def test_only_what_was_typed_differently_is_changed(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = (await visitor.get(f"{SHOP}/settings")).text
        fields = await visitor.form(f"{SHOP}/settings", CHANGE)
        same = await visitor.post(CHANGE, fields | typed_of(page))
        fields = await visitor.form(f"{SHOP}/settings", CHANGE)
        changes = {
            "weight": "250",
            "track_opens": "on",
            "allowed_from": "example.com\r\n\r\n *.example.com ",
            "postal_address": "1 High Street\r\nOxford",
            "delivery": "hold",
            "rate_per_second": "2.5",
        }
        done = await visitor.post(CHANGE, fields | typed_of(page) | changes)

    assert same.headers["location"].endswith("?done=same")
    assert done.headers["location"].endswith("?done=changed")
    async with console.connection() as conn:
        project = await projects_manage.find(conn, "default")
        (detail,) = await make.rows(
            conn, "SELECT detail FROM mailqueue.audit_events WHERE action = 'project.changed'"
        )
    assert (project.weight, project.track_opens, project.delivery) == (250, True, "hold")
    assert project.allowed_from == ["example.com", "*.example.com"]
    assert project.postal_address == "1 High Street\nOxford"
    before, after = detail[0]["before"], detail[0]["after"]
    assert {name for name in after if before[name] != after[name]} == set(changes)


async def test_the_logo_is_chosen_among_the_pictures_of_the_project(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        project_id = await make.project_named(conn)
        picture = await stored(conn, project_id, name="<logo>.png")
        other = await stored(conn, await make.project(conn, "other"), name="other.png")
        await logged_in(console, visitor)
        page = (await visitor.get(f"{SHOP}/settings")).text
        fields = await visitor.form(f"{SHOP}/settings", CHANGE) | typed_of(page)
        refused = await visitor.post(CHANGE, fields | {"logo": str(other)})
        fields = await visitor.form(f"{SHOP}/settings", CHANGE) | typed_of(page)
        await visitor.post(CHANGE, fields | {"logo": str(picture)})
        shown = (await visitor.get(f"{SHOP}/settings")).text
        removal = f"{SHOP}/templates/pictures/{picture}/remove"
        kept = await visitor.submit(removal, removal)
        changed = await projects_manage.find(conn, "default")

    assert "&lt;logo&gt;.png (3 × 2)</option>" in page
    assert "other.png" not in page
    assert f'src="{SHOP}/templates/pictures/' not in page
    assert (refused.status_code, 'id="fault-logo"' in refused.text) == (422, True)
    assert changed.logo == picture
    assert f'<option value="{picture}" selected>' in shown
    assert f'src="{SHOP}/templates/pictures/{picture}/file"' in shown
    assert "is the logo of the project" in kept.text


async def test_errors_of_settings_keep_what_was_typed_and_change_nothing(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = (await visitor.get(f"{SHOP}/settings")).text
        fields = await visitor.form(f"{SHOP}/settings", CHANGE) | typed_of(page)
        for name, text in (
            ("weight", "much"),
            ("weight", "0"),
            ("from_email", '"><script>'),
            ("time_zone", "Mars/Olympus"),
            ("delivery", "drop"),
            ("track_opens", "on"),
        ):
            if name == "track_opens":
                continue
            response = await visitor.post(CHANGE, fields | {"description": "kept", name: text})
            assert response.status_code == 422, (name, response.text)
            assert f'id="fault-{name}"' in response.text, name
            assert typed_of(response.text)["description"] == "kept"
            assert "Nothing was changed." in response.text
            assert "<script>" not in response.text.partition("<main")[2]
        async with console.connection() as conn:
            await projects_manage.change(conn, "default", changes={"weight": 7}, by="ben")
        late = await visitor.post(CHANGE, fields | {"description": "mine"})
        again = await visitor.post(
            CHANGE,
            {name: value for name, value in fields.items() if name != "version"}
            | {"version": re.findall(r'name="version" value="([^"]*)"', late.text)[0]}
            | {"description": "mine"},
        )

    assert late.status_code == 409
    assert "Somebody changed this project meanwhile" in late.text
    assert typed_of(late.text)["description"] == "mine"
    assert again.headers["location"].endswith("?done=changed")
    async with console.connection() as conn:
        assert (await projects_manage.find(conn, "default")).description == "mine"
