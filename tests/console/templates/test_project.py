"""Templates of a project in the console: read by its members, written by its admins."""

from html import unescape

import pytest

from mailqueue.templates import versions, writing
from mailqueue.templates.model import NewText
from tests import make
from tests.console.visiting import Visiting
from tests.templates.making import published, put_in_force, version_of

pytestmark = pytest.mark.anyio

PLATFORM = "/console/templates"
OWN = "/console/projects/shop/templates"


async def test_a_project_admin_creates_writes_publishes_copies_and_deletes_a_template(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        empty = (await visitor.get(OWN)).text
        await visitor.submit(f"{OWN}/new", f"{OWN}/new", slug="otp", name="Code")
        made = await writing.find(conn, shop, slug="otp")
        one = f"{OWN}/{made.id}"
        text = {"subject": "Your code", "html_body": "<p>\r\n{{ code }}</p>"}
        await visitor.submit(f"{one}/version", f"{one}/version", **text)
        await visitor.submit(f"{one}/versions/1/publish", f"{one}/versions/1/publish")
        changed = {"name": "One-time code", "category": "x", "language": "en"}
        await visitor.submit(f"{one}/change", f"{one}/change", **changed)
        taken = await visitor.submit(f"{one}/copy", f"{one}/copy", slug="otp")
        copied = await visitor.submit(f"{one}/copy", f"{one}/copy", slug="otp-2")
        arrived = (await visitor.get(copied.headers["location"])).text
        copy = await writing.find(conn, shop, slug="otp-2")
        gone = await visitor.submit(f"{one}/remove", f"{one}/remove")
        left = [each.slug for each in await writing.list_all(conn, shop)]
        actions = await make.rows(
            conn,
            "SELECT DISTINCT actor, project_id, action FROM mailqueue.audit_events"
            " WHERE action LIKE 'template%%' ORDER BY action",
        )

    assert f'href="{OWN}/new"' in empty
    assert (copy.project_id, copy.name, copy.published) == (shop, "One-time code", 1)
    assert taken.status_code == 422
    assert "there is a template otp already" in taken.text.lower()
    assert "This is the copy." in arrived
    assert gone.headers["location"] == f"{OWN}?done=removed"
    assert left == ["otp-2"]
    assert {(actor, owner) for actor, owner, _ in actions} == {("ann (console)", shop)}
    assert [action for _, _, action in actions] == [
        "template.changed",
        "template.created",
        "template.deleted",
        "template.published",
        "template.version_created",
    ]


async def test_a_template_of_the_platform_is_copied_to_the_project_and_not_written_there(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        shared = await published(conn, None, slug="otp")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        one = f"{OWN}/{shared.id}"
        shown = (await visitor.get(one)).text
        details = {"name": "Ours", "category": "x", "language": "en"}
        refused = [
            (await visitor.post(path, details | {"token": visitor.token(path)})).status_code
            for path in (f"{one}/version", f"{one}/change", f"{one}/remove")
        ]
        await visitor.submit(f"{one}/copy", f"{one}/copy", slug="")
        copy = await writing.find(conn, shop, slug="otp")
        kept = await writing.find(conn, None, slug="otp")

    assert f'href="{one}/copy"' in shown
    assert not any(f'href="{one}/{act}"' in shown for act in ("version", "change", "remove"))
    assert refused == [404, 404, 404]
    assert (copy.project_id, kept.id) == (shop, shared.id)


@pytest.mark.parametrize("role", ["support", "viewer"])
async def test_who_may_not_configure_a_project_writes_no_template(
    console: Visiting, role: str
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        template = await published(conn, shop, slug="receipt")
        await console.add_user("ann", role, "shop")
        await visitor.log_in("ann")
        shown = [(await visitor.get(each)).text for each in (OWN, f"{OWN}/{template.id}")]
        paths = [f"{OWN}/new", f"{OWN}/parts/new"]
        paths += [f"{OWN}/{template.id}/{act}" for act in ("version", "change", "copy", "remove")]
        refused = [
            (await visitor.post(path, {"token": visitor.token(path)})).status_code for path in paths
        ]
        listed = await writing.list_all(conn, shop)
        kept = await versions.list_all(conn, template)

    assert not any(path in text for path in paths for text in shown)
    assert refused == [403] * len(paths)
    assert ([each.slug for each in listed], len(kept)) == (["receipt"], 1)


async def test_a_project_reads_its_own_templates_and_the_platforms(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        for name in ("shop", "blog"):
            project = await make.project(conn, name)
            await published(conn, project, slug=f"of-{name}")
        shared = await published(conn, None, slug="shared")
        theirs = await writing.find(conn, project, slug="of-blog")
        await console.add_user("ben", "viewer", "shop")
        await visitor.log_in("ben")
        listed = (await visitor.get(OWN)).text
        searched = (await visitor.get(f"{OWN}?q=nothing")).text
        one = (await visitor.get(f"{OWN}/{shared.id}")).text

        assert ("of-shop" in listed, "shared" in listed, "of-blog" in listed) == (True, True, False)
        assert "No template has" in searched
        assert "Write a version" not in one
        for part in ("", "/preview", "/preview/html"):
            assert (await visitor.get(f"{OWN}/{theirs.id}{part}")).status_code == 404
        assert (await visitor.get(PLATFORM)).status_code == 403
        assert (await visitor.get(f"{PLATFORM}/{shared.id}/preview")).status_code == 403


async def test_a_project_admin_rolls_a_template_back_to_the_version_before(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        template = await published(conn, shop, slug="receipt")
        newer = await version_of(conn, template, NewText("Wrong", "<p>Wrong</p>", "Wrong"))
        await put_in_force(conn, template, newer)
        draft = await version_of(conn, template)
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        path = f"{OWN}/{template.id}/versions/1/publish"
        listed = (await visitor.get(OWN)).text
        asked = (await visitor.get(path)).text
        done = await visitor.submit(path, path)
        after = (await visitor.get(done.headers["location"])).text
        listed_after = (await visitor.get(OWN)).text
        kept = await writing.find(conn, shop, slug="receipt")

    assert f'href="{path}"' in listed
    assert "Version 2 is archived, and can be published again." in unescape(asked)
    assert "in every project" not in asked
    assert "Emails accepted from now on use it." in after
    assert "Roll back" not in listed_after, "no version below it was published"
    assert (kept.published, kept.previous, kept.newest) == (1, None, draft.version)


@pytest.mark.parametrize("role", ["support", "viewer"])
async def test_who_may_not_configure_a_project_publishes_nothing(
    console: Visiting, role: str
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        template = await published(conn, shop, slug="receipt")
        await put_in_force(conn, template, await version_of(conn, template))
        await console.add_user("ann", role, "shop")
        await visitor.log_in("ann")
        page = f"{OWN}/{template.id}"
        shown = [(await visitor.get(each)).text for each in (page, page.rpartition("/")[0])]
        path = f"{page}/versions/1/publish"
        refused = await visitor.post(path, {"token": visitor.token(path)})

    assert all("Roll back" not in each and "/publish" not in each for each in shown)
    assert refused.status_code == 403


async def test_a_project_does_not_publish_versions_of_the_platform(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await make.project(conn, "shop")
        template = await published(conn, None, slug="otp")
        await put_in_force(conn, template, await version_of(conn, template))
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        page = f"{OWN}/{template.id}"
        shown = (await visitor.get(page)).text
        path = f"{page}/versions/1/publish"
        refused = await visitor.post(path, {"token": visitor.token(path)})
        kept = await writing.find(conn, None, slug="otp")

    assert "Roll back" not in shown
    assert refused.status_code == 404
    assert kept.published == 2


async def test_a_project_that_is_full_refuses_at_the_field_and_keeps_what_was_typed(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        template = await published(conn, shop, slug="otp")
        await conn.execute("UPDATE mailqueue.projects SET max_templates = 1")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        copy = f"{OWN}/{template.id}/copy"
        refused = [
            await visitor.submit(f"{OWN}/new", f"{OWN}/new", slug="next", name="Typed name"),
            await visitor.submit(copy, copy, slug="next"),
        ]

    assert [one.status_code for one in refused] == [422, 422]
    assert ["Project shop is full" in one.text for one in refused] == [True, True]
    assert ['id="fault-slug"' in one.text for one in refused] == [True, True]
    assert ("Typed name" in refused[0].text, "next" in refused[1].text) == (True, True)


async def test_a_copy_of_a_template_without_a_published_version_is_refused_with_the_reason(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await make.project(conn, "shop")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        made = await visitor.submit(f"{OWN}/new", f"{OWN}/new", slug="otp")
        copy = made.headers["location"].partition("?")[0] + "/copy"
        refused = await visitor.submit(copy, copy, slug="next")

    assert (refused.status_code, 'id="fault-slug"' in refused.text) == (422, True)
