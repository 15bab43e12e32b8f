"""Every page of the table, as every role: what it shows, to whom, and in which projects."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

import pytest

from mailqueue.admin.users.model import RIGHTS, Right, Role
from mailqueue.console.emails.actions import ACTIONS
from mailqueue.console.frame.page import Access
from mailqueue.console.table import PAGES
from tests.console.access.allowed import ALLOWED
from tests.console.examples import path_of, seed
from tests.console.visiting import Visiting, Visitor

pytestmark = pytest.mark.anyio

OTHER = "SECRET-of-the-other-project"
ROLES = tuple(str(role) for role in Role)


@dataclass(frozen=True, slots=True)
class Crawl:
    """A console with two projects, rows for every page in each, and users of the first."""

    console: Visiting
    mine: Mapping[str, str]
    theirs: Mapping[str, str]


@pytest.fixture(scope="module")
async def crawl(shared_console: Visiting) -> Crawl:
    async with shared_console.connection() as conn:
        mine = await seed(conn, "shop", subject="Mine")
        theirs = await seed(conn, "blog", subject=OTHER)
    for role in ROLES:
        projects = [] if role == "superadmin" else ["shop"]
        await shared_console.add_user(f"a-{role}", role, *projects)
    return Crawl(shared_console, mine, theirs)


async def answered(visitor: Visitor, method: str, path: str) -> int:
    if method == "GET":
        return (await visitor.get(path)).status_code
    return (await visitor.post(path, {"reason": "x"})).status_code


def test_every_page_with_a_right_stands_in_the_table_of_this_test() -> None:
    guarded = {page.path for page in PAGES if isinstance(page.access, Right)}

    assert guarded == set(ALLOWED)
    for page in PAGES:
        if isinstance(page.access, Right):
            may = {
                str(role)
                for role in Role
                if page.access in RIGHTS[role] and (role is Role.SUPERADMIN or not page.needs_all)
            }
            assert may == ALLOWED[page.path], page.path


def test_every_other_page_is_public_or_for_every_user() -> None:
    public = {(page.method, page.path) for page in PAGES if page.access is Access.PUBLIC}

    assert public == {
        ("GET", "/console/login"),
        ("POST", "/console/login"),
        ("GET", "/console/login/code"),
        ("POST", "/console/login/code"),
        ("GET", "/console/login/forgotten"),
        ("POST", "/console/login/forgotten"),
        ("GET", "/console/login/issuer"),
        ("GET", "/console/login/issuer/back"),
        ("POST", "/console/login/passkey"),
        ("POST", "/console/login/passkey/begin"),
        ("GET", "/console/welcome"),
        ("POST", "/console/welcome"),
    }
    assert all("{" not in page.path for page in PAGES if not isinstance(page.access, Right))


def test_each_email_action_that_is_destructive_asks_for_a_confirmation() -> None:
    assert {page.path.rpartition("/")[2] for page in PAGES if page.step_up} >= {
        action.name for action in ACTIONS.values() if action.is_destructive
    }


async def test_without_a_session_every_page_leads_to_the_login(crawl: Crawl) -> None:
    async with crawl.console.visitor() as visitor:
        for page in PAGES:
            if page.access is Access.PUBLIC:
                continue
            path = path_of(page.path, crawl.mine)
            response = await (
                visitor.get(path) if page.method == "GET" else visitor.post(path, {"reason": "x"})
            )
            assert response.status_code == 303, path
            assert response.headers["location"].startswith("/console/login"), path


@pytest.mark.parametrize("role", ROLES)
async def test_each_role_sees_its_pages_and_no_others(crawl: Crawl, role: str) -> None:
    async with crawl.console.visitor() as visitor:
        assert (await visitor.log_in(f"a-{role}")).status_code == 303
        for page in PAGES:
            if not isinstance(page.access, Right):
                continue
            path = path_of(page.path, crawl.mine)
            status = await answered(visitor, page.method, path)
            if role not in ALLOWED[page.path]:
                assert status == 403, (page.method, path)
            elif page.method == "GET":
                assert status == 200, (page.method, path)
            else:
                assert status == 403, f"{path}: a form without its token"


async def test_each_destructive_act_needs_a_recent_confirmation(crawl: Crawl) -> None:
    await crawl.console.add_user("old-session")
    async with crawl.console.visitor() as visitor, crawl.console.connection() as conn:
        await visitor.log_in("old-session")
        old = crawl.console.unconfirmed("old-session")
        for page in PAGES:
            if not page.step_up:
                continue
            assert page.access is not Access.PUBLIC, page.path
            path = path_of(page.path, crawl.mine)
            if page.method == "GET":
                await conn.execute(old)
                response = await visitor.get(path)
            else:
                fields = {"token": visitor.token(path.partition("?")[0]), "reason": "x"}
                await conn.execute(old)
                response = await visitor.post(path, fields)
            location = response.headers["location"]
            assert location.startswith("/console/confirm?next=%2Fconsole%2F"), page.path


@pytest.mark.parametrize("role", [role for role in ROLES if role != "superadmin"])
async def test_a_member_sees_nothing_of_another_project(crawl: Crawl, role: str) -> None:
    async with crawl.console.visitor() as visitor:
        await visitor.log_in(f"a-{role}")
        for page in PAGES:
            if "{project}" not in page.path:
                continue
            for project in ("blog", "no-such-project"):
                path = path_of(page.path, {**crawl.theirs, "project": project})
                assert await answered(visitor, page.method, path) == 404, path
            # Its rows by way of the user's own project.
            is_of_row = page.path.count("{") > 1
            if is_of_row and role in ALLOWED[page.path] and page.method == "GET":
                response = await visitor.get(
                    path_of(page.path, {**crawl.theirs, "project": "shop"})
                )
                assert (response.status_code, OTHER in response.text) == (404, False), page.path
        for path in (
            "/console",
            "/console/find?q=ann@example.com",
            f"/console/find?q={crawl.theirs['email_id']}",
        ):
            response = await visitor.http.get(path, follow_redirects=True)
            assert OTHER not in response.text
            assert "blog" not in response.text


async def test_a_superadmin_finds_an_email_of_any_project_by_its_id(crawl: Crawl) -> None:
    async with crawl.console.visitor() as visitor:
        await visitor.log_in("a-superadmin")
        response = await visitor.http.get(
            f"/console/find?q={crawl.theirs['email_id']}", follow_redirects=True
        )
        missing = await visitor.get(f"/console/find?q={uuid4()}")

    assert OTHER in response.text
    assert missing.status_code == 404


async def test_a_user_who_is_moved_or_removed_is_out_with_the_next_request(
    crawl: Crawl,
) -> None:
    await crawl.console.add_user("mover", "support", "shop")
    async with crawl.console.visitor() as visitor, crawl.console.connection() as conn:
        await visitor.log_in("mover")
        assert (await visitor.get("/console/projects/shop/emails")).status_code == 200
        await conn.execute(
            "UPDATE mailqueue.console_members AS m SET project_id = p.id"
            " FROM mailqueue.projects AS p, mailqueue.console_users AS u"
            " WHERE p.name = 'blog' AND u.name = 'mover' AND m.user_id = u.id"
        )
        assert (await visitor.get("/console/projects/shop/emails")).status_code == 404
        await conn.execute("SELECT mailqueue.remove_console_user('mover', 'tests')")
        assert (await visitor.get("/console/projects/blog/emails")).status_code == 303


async def test_a_role_of_a_later_release_may_do_nothing(crawl: Crawl) -> None:
    await crawl.console.add_user("later", "viewer", "shop")
    async with crawl.console.visitor() as visitor, crawl.console.connection() as conn:
        await visitor.log_in("later")
        await conn.execute(
            "ALTER TABLE mailqueue.console_users DROP CONSTRAINT console_users_role_check"
        )
        await conn.execute("UPDATE mailqueue.console_users SET role = 'owner' WHERE name = 'later'")
        response = await visitor.get("/console/projects/shop/emails")

    assert response.status_code == 403
