"""`/admin/users`: people who log in to the console, added, linked and removed by administrators."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest

from mailqueue.administration.users import sessions
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.administering import Administering, administering
from tests.api.support.calling import ORIGIN

pytestmark = pytest.mark.anyio

URL = "https://console.example.com"


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database, console_url=URL) as made:
        yield made


def token_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["link"][0]


async def test_a_user_is_added_linked_listed_and_removed(admin: Administering) -> None:
    body = {"name": "ben", "role": "support", "projects": ["default"]}
    added = await admin("POST", "/users", body, status=201)
    linked = await admin("POST", "/users/ben/link")
    (listed,) = (await admin("GET", "/users"))["data"]
    async with admin.conn() as conn:
        with pytest.raises(Exception, match="no valid link"):
            await sessions.name_of_link(conn, token_of(added["link"]))
        assert await sessions.name_of_link(conn, token_of(linked["link"])) == "ben"

    assert added["link"].startswith(f"{URL}/console/welcome?link=mq_link_")
    assert (listed["role"], listed["projects"]) == ("support", ["default"])
    assert not listed["sees_all"]
    assert not listed["has_password"]
    assert token_of(linked["link"]) not in str(listed)

    response = await admin.http.delete(
        "/admin/users/ben", headers={"Authorization": f"Bearer {admin.token}"}
    )
    assert (response.status_code, response.content) == (204, b"")
    (gone,) = (await admin("GET", "/users"))["data"]
    assert gone["removed_at"] is not None
    await admin("DELETE", "/users/ben", status=404)
    await admin("POST", "/users/ben/link", status=404)
    log = await admin("GET", "/audit-log?action=console_user.added")
    assert [each["actor"] for each in log["data"]] == ["ann (token)"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "ben", "role": "support"}, "project"),
        ({"name": "ben", "role": "superadmin", "projects": ["default"]}, "project"),
        (
            {"name": "ben", "role": "viewer", "projects": ["default"], "all_projects": True},
            "project",
        ),
        ({"name": "ben", "role": "viewer", "projects": ["no-such"]}, "project"),
        ({"name": "ben", "role": "owner", "projects": ["default"]}, "role"),
        ({"name": " ", "role": "superadmin"}, "name"),
        ({"name": "a/b", "role": "superadmin"}, "name"),
        ({"name": "a\nb", "role": "superadmin"}, "name"),
        ({"role": "superadmin"}, "name"),
    ],
)
async def test_a_user_that_cannot_be_is_refused_with_the_field(
    admin: Administering, body: dict[str, object], field: str
) -> None:
    refused = await admin("POST", "/users", body, status=422)

    assert refused["field"] == field
    assert (await admin("GET", "/users"))["data"] == []


async def test_a_name_is_not_used_again_in_whatever_letter_case(admin: Administering) -> None:
    await admin("POST", "/users", {"name": "Ben", "role": "superadmin"}, status=201)
    refused = await admin("POST", "/users", {"name": "bEN", "role": "superadmin"}, status=422)

    assert refused["field"] == "name"
    assert "names are not used again" in refused["message"]


async def test_without_a_configured_url_a_link_leads_to_this_server(
    database: DatabaseSettings,
) -> None:
    async with administering(database) as admin:
        added = await admin("POST", "/users", {"name": "ben", "role": "superadmin"}, status=201)

    assert added["link"].startswith(f"{ORIGIN}/console/welcome?")
