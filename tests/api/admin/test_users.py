"""`/admin/users`: people who log in to the console, added, linked and removed by administrators."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest

from mailqueue.admin.users import sessions
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.administering import Administering, administering
from tests.api.support.calling import ORIGIN
from tests.rows import each_row

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


@each_row(
    "body, field",
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


async def test_role_and_projects_are_changed_and_what_is_left_out_stays(
    admin: Administering,
) -> None:
    await admin(
        "POST", "/users", {"name": "ben", "role": "viewer", "projects": ["default"]}, status=201
    )

    async def changed(**body: object) -> tuple[str, bool, list[str]]:
        user = await admin("PATCH", "/users/Ben", body)
        return user["role"], user["sees_all"], user["projects"]

    assert await changed(role="support") == ("support", False, ["default"])
    assert await changed(all_projects=True) == ("support", True, [])
    assert await changed(role="viewer") == ("viewer", True, [])
    assert await changed(projects=["default"]) == ("viewer", False, ["default"])
    assert await changed(role="superadmin") == ("superadmin", True, [])
    assert await changed(all_projects=True) == ("superadmin", True, []), "as it is"
    log = await admin("GET", "/audit-log?action=console_user.changed")
    assert [each["actor"] for each in log["data"]] == ["ann (token)"] * 5
    assert log["data"][0]["detail"]["before"]["role"] == "viewer"

    for body, field in (
        ({"role": "viewer"}, "project"),
        ({"role": "viewer", "projects": []}, "project"),
        ({"role": "viewer", "projects": ["no-such"]}, "project"),
        ({"projects": ["default"]}, "project"),
        ({"role": "owner"}, "role"),
    ):
        assert (await admin("PATCH", "/users/ben", body, status=422))["field"] == field
    await admin("PATCH", "/users/eve", {"role": "viewer"}, status=404)
    assert await changed() == ("superadmin", True, [])


async def second_factor(admin: Administering, name: str) -> None:
    """Turn on a second factor of a user, add a passkey, and begin a session."""
    async with admin.conn() as conn:
        await conn.execute(
            "WITH u AS (UPDATE mailqueue.console_users SET password_hash = 'x', link_hash = NULL,"
            " link_until = NULL WHERE name = %s RETURNING id), f AS (INSERT INTO"
            " mailqueue.console_second_factors (user_id, master_key_id, sealed, session_id,"
            " turned_on_at) SELECT id, 'key', '\\x00', gen_random_uuid(), now() FROM u),"
            " k AS (INSERT INTO mailqueue.console_passkeys (user_id, credential_id, public_key,"
            " sign_count, name) SELECT id, '\\x01', '\\x02', 0, 'laptop' FROM u)"
            " INSERT INTO mailqueue.console_sessions (user_id, token_hash, browser_hash,"
            " expires_at) SELECT id, '\\x01', '\\x02', now() + interval '1 h' FROM u",
            (name,),
        )


async def test_a_second_factor_is_seen_and_reset(admin: Administering) -> None:
    await admin("POST", "/users", {"name": "ben", "role": "superadmin"}, status=201)
    before = (await admin("GET", "/users"))["data"][0]
    await second_factor(admin, "ben")
    (listed,) = (await admin("GET", "/users"))["data"]
    untouched = await admin("PATCH", "/users/ben", {"reset_second_factor": False})
    reset = await admin("PATCH", "/users/BEN", {"reset_second_factor": True})
    again = await admin("PATCH", "/users/ben", {"reset_second_factor": True})
    log = await admin("GET", "/audit-log?action=console_user.second_factor_reset")

    assert [each["has_second_factor"] for each in (before, listed, untouched)] == [
        False,
        True,
        True,
    ]
    assert (listed["sessions"], reset["sessions"]) == (1, 0)
    assert [each["passkeys"] for each in (before, listed, reset)] == [0, 1, 0]
    assert (reset["has_second_factor"], again["has_second_factor"]) == (False, False)
    assert reset["role"] == "superadmin"
    assert [(each["actor"], each["subject"]) for each in log["data"]] == [
        ("ann (token)", "user ben")
    ], "once"
    await admin("PATCH", "/users/eve", {"reset_second_factor": True}, status=404)


async def test_a_change_that_is_refused_resets_nothing(admin: Administering) -> None:
    await admin("POST", "/users", {"name": "ben", "role": "superadmin"}, status=201)
    await second_factor(admin, "ben")
    body = {"role": "viewer", "projects": ["no-such"], "reset_second_factor": True}
    await admin("PATCH", "/users/ben", body, status=422)
    (kept,) = (await admin("GET", "/users"))["data"]
    done = await admin("PATCH", "/users/ben", body | {"projects": ["default"]})

    assert (kept["has_second_factor"], kept["role"]) == (True, "superadmin")
    assert (done["has_second_factor"], done["role"]) == (False, "viewer")


async def test_a_user_of_an_issuer_has_no_second_factor_to_reset(admin: Administering) -> None:
    await admin("POST", "/users", {"name": "ben", "role": "superadmin"}, status=201)
    async with admin.conn() as conn:
        await conn.execute(
            "UPDATE mailqueue.console_users SET link_hash = NULL, link_until = NULL,"
            " issuer = 'https://login.example.com', subject = 'ben'"
        )
    refused = await admin("PATCH", "/users/ben", {"reset_second_factor": True}, status=422)

    assert refused["field"] == "reset_second_factor"


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
