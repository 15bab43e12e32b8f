"""`/admin/producers`: logins bound to projects over HTTP, for administrators only."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from psycopg import errors

from mailqueue.projects.producers import manage
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.administering import Administering, administering
from tests.conftest import Server
from tests.rules.logins import login

pytestmark = pytest.mark.anyio


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        async with made.conn() as conn:
            for name in ("shop", "blog"):
                await make.project(conn, name)
        yield made


async def deleted(admin: Administering, path: str) -> int:
    headers = {"Authorization": f"Bearer {admin.token}"}
    return (await admin.http.delete(f"/admin{path}", headers=headers)).status_code


async def test_a_login_is_bound_listed_and_unbound(admin: Administering) -> None:
    async with admin.conn() as conn:
        me = await make.scalar(conn, "SELECT session_user::text")
    assert await admin("GET", "/producers") == {"data": [], "next_cursor": None}
    bound = await admin("POST", f"/producers/{me}/projects", {"projects": ["shop", "blog"]})
    assert bound == {"login": me, "projects": ["blog", "shop"], "is_known": True}
    assert (await admin("GET", "/producers"))["data"] == [bound]

    async with admin.conn() as conn:
        await make.queued_emails(conn, 1, project="shop")
        with pytest.raises(errors.InsufficientPrivilege, match="may not enqueue for project"):
            await make.queued_emails(conn, 1, project="default")

    assert await deleted(admin, f"/producers/{me}/projects/blog") == 204
    assert (await admin("GET", "/producers"))["data"] == [bound | {"projects": ["shop"]}]
    assert await deleted(admin, f"/producers/{me}") == 204
    assert await deleted(admin, f"/producers/{me}") == 404
    assert (await admin("GET", "/producers"))["data"] == []
    log = await admin("GET", "/audit-log?action=producer.bound")
    assert {each["actor"] for each in log["data"]} == {"ann (token)"}


async def test_what_cannot_be_bound_is_refused_by_its_field(admin: Administering) -> None:
    async with admin.conn() as conn:
        me = await make.scalar(conn, "SELECT session_user::text")
    wrong = await admin("POST", "/producers/nobody/projects", {"projects": ["shop"]}, status=422)
    assert wrong["field"] == "login"
    wrong = await admin("POST", f"/producers/{me}/projects", {"projects": ["away"]}, status=422)
    assert wrong["field"] == "project"
    await admin("POST", f"/producers/{me}/projects", {"projects": []}, status=422)
    assert await deleted(admin, f"/producers/{me}/projects/away") == 404
    assert await deleted(admin, f"/producers/{me}/projects/shop") == 404
    await admin("GET", "/producers", status=401, token="none")


async def test_the_role_of_the_api_is_enough(
    server: Server, admin: Administering, fresh_db: str
) -> None:
    superuser = server.superuser_url(fresh_db.rpartition("/")[2])
    async with login(superuser, "mailqueue_api") as conn:
        me = await make.scalar(conn, "SELECT session_user::text")
        await conn.execute("SELECT set_config('mailqueue.project', '*', false)")
        assert (await manage.bind(conn, me, ["shop"], by="tests")).projects == ["shop"]
        assert [each.login for each in await manage.list_all(conn)] == [me]
        assert await manage.unbind(conn, me, None, by="tests") is None
        await conn.execute("SELECT set_config('mailqueue.project', %s, false)", (str(uuid4()),))
        for act in (manage.bind, manage.unbind):
            with pytest.raises(errors.InsufficientPrivilege, match="one project only"):
                await act(conn, me, ["shop"], by="tests")
    assert await admin("GET", "/producers") == {"data": [], "next_cursor": None}
