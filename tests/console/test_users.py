"""Users in the console: superadmins add, change, link and remove them, project admins invite."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from mailqueue.admin.users import manage
from mailqueue.admin.users.members import roles_within
from mailqueue.admin.users.model import Role
from tests import make
from tests.console.visiting import PASSWORD, Visiting, Visitor

pytestmark = pytest.mark.anyio
USERS = "/console/users"
ADD = f"{USERS}/add"


def link_on(page: str) -> str:
    """Return the token of the link that a page shows."""
    link = page.partition('tabindex="0">')[2].partition("</pre>")[0]
    return parse_qs(urlsplit(link).query)["link"][0]


async def user_of(console: Visiting, name: str) -> Any:
    async with console.connection() as conn:
        return await manage.find(conn, name)


async def actions(console: Visiting) -> list[tuple[str, str]]:
    async with console.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT actor, action FROM mailqueue.audit_events"
            " WHERE action LIKE 'console_user%%' AND action !~ 'logged|password|confirmed'"
            " AND actor <> 'tests' ORDER BY id",
        )
    return [(row[0], row[1]) for row in rows]


async def projects(console: Visiting, *names: str) -> None:
    async with console.connection() as conn:
        for name in names:
            await make.project(conn, name)


async def act(visitor: Visitor, console: Visiting, name: str, action: str, **fields: str) -> Any:
    user = await user_of(console, name)
    path = f"{USERS}/one/{user.id}/{action}"
    return await visitor.submit(path, path, **fields)


async def test_a_superadmin_adds_a_user_who_sets_a_password_by_the_link(console: Visiting) -> None:
    await console.add_user("ann")
    await projects(console, "shop", "blog")
    async with console.visitor() as visitor, console.visitor() as ben:
        await visitor.log_in("ann")
        fields = await visitor.form(ADD, ADD) | {"role": "support", "projects": "shop, blog"}
        nameless = await visitor.post(ADD, fields | {"name": " "})
        unknown = await visitor.post(ADD, fields | {"name": "ben", "projects": "nothing-here"})
        made = await visitor.post(ADD, fields | {"name": "ben"})
        again = await visitor.post(ADD, fields | {"name": "ben"})
        set_ = {"link": link_on(made.text), "password": PASSWORD, "again": PASSWORD}
        await ben.post("/console/welcome", set_)
        logged_in = await ben.log_in("ben")
        listed = await visitor.get(USERS)

    assert (nameless.status_code, unknown.status_code, made.status_code) == (422, 422, 200)
    assert 'value="nothing-here"' in unknown.text
    assert "nothing-here" in unknown.text.partition('role="alert">')[2].partition("</p>")[0]
    assert again.headers["location"].endswith("done=before")
    assert logged_in.status_code == 303
    assert "blog, shop" in listed.text
    found = await user_of(console, "ben")
    assert (found.role, found.projects, found.created_by) == (
        "support",
        ["blog", "shop"],
        "ann (console)",
    )


async def test_a_user_who_is_changed_or_removed_has_the_new_rights_with_the_next_click(
    console: Visiting,
) -> None:
    await projects(console, "shop", "blog")
    await console.add_user("ann")
    await console.add_user("ben", "superadmin")
    async with console.visitor() as visitor, console.visitor() as ben:
        await visitor.log_in("ann")
        await ben.log_in("ben")
        paths = (USERS, "/console/projects/shop/emails", "/console/projects/blog/emails")

        async def seen() -> list[int]:
            return [(await ben.get(path)).status_code for path in paths]

        before = await seen()
        refused = await act(visitor, console, "ben", "change", role="viewer", projects="")
        done = await act(visitor, console, "ben", "change", role="viewer", projects="shop")
        lowered = await seen()
        await act(visitor, console, "ben", "change", role="support", projects="*")
        raised = await seen()
        removed = await act(visitor, console, "ben", "remove")
        gone = await seen()

    assert before == [200, 200, 200]
    assert (refused.status_code, "needs at least one project" in refused.text) == (422, True)
    assert done.headers["location"].endswith("done=changed")
    assert lowered == [403, 200, 404]
    assert raised == [403, 200, 200]
    assert removed.headers["location"].endswith("done=removed")
    assert gone == [303, 303, 303]
    assert await actions(console) == [
        ("ann (console)", "console_user.changed"),
        ("ann (console)", "console_user.changed"),
        ("ann (console)", "console_user.removed"),
    ]


async def test_superadmins_neither_lower_nor_remove_themselves(console: Visiting) -> None:
    await console.add_user("ann")
    ann = await user_of(console, "ann")
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        for action in ("change", "remove"):
            path = f"{USERS}/one/{ann.id}/{action}"
            fields = {"token": visitor.token(path), "role": "viewer", "projects": "*"}
            statuses = [
                (await visitor.get(path)).status_code,
                (await visitor.post(path, fields)).status_code,
            ]
            assert statuses == [409, 409], action
        page = await visitor.get(f"{USERS}/one/{ann.id}")

    assert "another superadmin" in page.text
    assert (await user_of(console, "ann")).role == "superadmin"


async def test_a_new_link_is_shown_once_and_the_password_stays_until_it_is_used(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    await console.add_user("ben")
    async with console.visitor() as visitor, console.visitor() as ben:
        await visitor.log_in("ann")
        made = await act(visitor, console, "ben", "link")
        welcome = await ben.get(f"/console/welcome?link={link_on(made.text)}")
        still = await ben.log_in("ben")

    assert (welcome.status_code, still.status_code) == (200, 303)


async def test_what_was_typed_is_there_again_after_a_confirmation(console: Visiting) -> None:
    await projects(console, "shop")
    await console.add_user("ann")
    await console.add_user("ben", "viewer", "shop")
    ben = await user_of(console, "ben")
    change, invite = f"{USERS}/one/{ben.id}/change", "/console/projects/shop/members/invite"
    async with console.visitor() as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        fields = {
            path: await visitor.form(path, path)
            | {"name": "eve & co", "role": "project_admin", "projects": "shop, blog"}
            for path in (ADD, change, invite)
        }
        await conn.execute(console.unconfirmed("ann"))
        asked = [await visitor.post(path, given) for path, given in fields.items()]
        await visitor.submit("/console/confirm", "/console/confirm", password=PASSWORD)
        pages = [
            (await visitor.get(parse_qs(urlsplit(each.headers["location"]).query)["next"][0])).text
            for each in asked
        ]

    assert all('<option value="project_admin" selected>' in page for page in pages)
    assert ["eve &amp; co" in page for page in pages] == [True, False, True]
    assert ['value="shop, blog"' in page for page in pages] == [True, True, False]


async def test_names_are_shown_as_text(console: Visiting) -> None:
    await console.add_user("ann")
    hostile = '<script>x"&'
    await console.add_user(hostile, "viewer", "default")
    user = await user_of(console, hostile)
    paths = [USERS, *(f"{USERS}/one/{user.id}{end}" for end in ("", "/change", "/link", "/remove"))]
    paths += [f"/console/projects/default/members{end}" for end in ("", f"/one/{user.id}/remove")]
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        for path in paths:
            page = await visitor.get(path)
            assert page.status_code == 200, path
            assert "<script>x" not in page.text, path
            assert "&lt;script&gt;x&#34;&amp;" in page.text, path


async def test_a_project_admin_invites_to_its_project_within_its_role(console: Visiting) -> None:
    await projects(console, "shop", "blog")
    await console.add_user("lead", "project_admin", "shop")
    path = "/console/projects/shop/members/invite"
    async with console.visitor() as visitor, console.visitor() as ben:
        await visitor.log_in("lead")
        fields = await visitor.form(path, path)
        above = await visitor.post(path, fields | {"name": "eve", "role": "superadmin"})
        odd = await visitor.post(path, fields | {"name": "eve", "role": "owner"})
        made = await visitor.post(path, fields | {"name": "ben", "role": "support"})
        taken = await visitor.submit(path, path, name="ben", role="viewer")
        set_ = {"link": link_on(made.text), "password": PASSWORD, "again": PASSWORD}
        await ben.post("/console/welcome", set_)
        await ben.log_in("ben")
        seen = [
            (await ben.get(f"/console/projects/{name}/emails")).status_code
            for name in ("shop", "blog", "default")
        ]
        listed = (await visitor.get("/console/projects/shop/members")).text
        form = await visitor.get(path)

    async with console.connection() as conn:
        told = await make.rows(
            conn,
            "SELECT e.actor, e.action, e.subject FROM mailqueue.audit_events AS e"
            " JOIN mailqueue.projects AS p ON p.id = e.project_id"
            " WHERE p.name = 'shop' AND e.action LIKE 'console%%' AND e.actor <> 'tests'",
        )
    assert told == [("lead (console)", "console_member.added", "user ben")]
    assert (above.status_code, odd.status_code, taken.status_code) == (422, 422, 422)
    assert "not be higher than your own" in above.text
    assert 'value="superadmin"' not in form.text
    assert seen == [200, 404, 404]
    assert "ben" in listed
    assert (await user_of(console, "ben")).projects == ["shop"]


async def test_a_member_who_is_removed_sees_the_project_no_more_and_keeps_others(
    console: Visiting,
) -> None:
    await projects(console, "shop", "blog")
    await console.add_user("lead", "project_admin", "shop")
    await console.add_user("ben", "viewer", "shop", "blog")
    await console.add_user("eve", "viewer", "blog")
    ben, eve = await user_of(console, "ben"), await user_of(console, "eve")
    members = "/console/projects/shop/members"
    async with console.visitor() as visitor, console.visitor() as other:
        await visitor.log_in("lead")
        await other.log_in("ben")
        path = f"{members}/one/{ben.id}/remove"
        done = await visitor.submit(path, path)
        seen = [
            (await other.get(f"/console/projects/{name}/emails")).status_code
            for name in ("shop", "blog")
        ]
        strange = await visitor.get(f"{members}/one/{eve.id}/remove")
        lead = await user_of(console, "lead")
        self_ = await visitor.get(f"{members}/one/{lead.id}/remove")

    assert done.headers["location"].endswith("done=removed")
    assert seen == [404, 200]
    assert (strange.status_code, self_.status_code) == (404, 409)


def test_no_role_invites_to_one_above_it() -> None:
    assert roles_within("superadmin") == [Role.PROJECT_ADMIN, Role.SUPPORT, Role.VIEWER]
    assert roles_within("project_admin") == [Role.PROJECT_ADMIN, Role.SUPPORT, Role.VIEWER]
    assert roles_within("support") == [Role.SUPPORT, Role.VIEWER]
    assert roles_within("viewer") == [Role.VIEWER]
    assert roles_within("owner") == []
