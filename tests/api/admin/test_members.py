"""`/admin/projects/{id}/members`: who sees a project in the console."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.admin.users import sessions
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.admin.test_users import token_of
from tests.api.support.administering import Administering, administering
from tests.rows import each_row

pytestmark = pytest.mark.anyio

MEMBERS = "/projects/shop/members"


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        async with made.conn() as conn:
            await make.project(conn, "shop")
        yield made


async def removed(admin: Administering, path: str) -> int:
    """Send DELETE, which answers no document; return the status."""
    headers = {"Authorization": f"Bearer {admin.token}"}
    return (await admin.http.delete(f"/admin{path}", headers=headers)).status_code


async def test_a_member_is_added_listed_and_removed(admin: Administering) -> None:
    added = await admin("POST", MEMBERS, {"name": "Ben", "role": "support"}, status=201)
    await admin("POST", "/users", {"name": "eve", "role": "superadmin"}, status=201)
    (listed,) = (await admin("GET", MEMBERS))["data"]
    async with admin.conn() as conn:
        assert await sessions.name_of_link(conn, token_of(added["link"])) == "Ben"

    assert (listed["name"], listed["role"], listed["has_password"]) == ("Ben", "support", False)
    assert await removed(admin, f"{MEMBERS}/ben") == 204
    assert await removed(admin, f"{MEMBERS}/ben") == 404
    assert (await admin("GET", MEMBERS))["data"] == []
    users = {each["name"]: each for each in (await admin("GET", "/users"))["data"]}
    assert (users["Ben"]["projects"], users["Ben"]["removed_at"]) == ([], None)
    log = await admin("GET", "/projects/shop/audit-log?action=console_member")
    assert [(each["action"], each["actor"]) for each in log["data"]] == [
        ("console_member.removed", "ann (token)"),
        ("console_member.added", "ann (token)"),
    ]


async def test_members_are_listed_page_by_page_by_name(admin: Administering) -> None:
    for name in ("carl", "Bea", "abe"):
        await admin("POST", MEMBERS, {"name": name, "role": "viewer"}, status=201)
    await admin("POST", "/projects/default/members", {"name": "x", "role": "viewer"}, status=201)

    first = await admin("GET", f"{MEMBERS}?limit=2")
    rest = await admin("GET", f"{MEMBERS}?limit=2&cursor={first['next_cursor']}")

    names = [each["name"] for each in (*first["data"], *rest["data"])]
    assert (names, rest["next_cursor"]) == (["abe", "Bea", "carl"], None)


@each_row(
    "body, field",
    [
        ({"name": "ben", "role": "superadmin"}, "role"),
        ({"name": "ben"}, "role"),
        ({"name": " ", "role": "viewer"}, "name"),
        ({"name": "a/b", "role": "viewer"}, "name"),
        ({"name": "ben", "role": "viewer", "projects": ["default"]}, "projects"),
    ],
)
async def test_a_member_that_cannot_be_is_refused_with_the_field(
    admin: Administering, body: dict[str, object], field: str
) -> None:
    refused = await admin("POST", MEMBERS, body, status=422)

    assert refused["field"] == field
    assert (await admin("GET", "/users"))["data"] == []


async def test_a_project_that_is_not_there_has_no_members(admin: Administering) -> None:
    ben = {"name": "ben", "role": "viewer"}
    await admin("GET", "/projects/nowhere/members", status=404)
    await admin("POST", "/projects/nowhere/members", ben, status=404)
    await admin("POST", MEMBERS, ben, status=201)

    assert await removed(admin, "/projects/nowhere/members/ben") == 404
    assert await removed(admin, "/projects/default/members/ben") == 404
    assert len((await admin("GET", MEMBERS))["data"]) == 1
