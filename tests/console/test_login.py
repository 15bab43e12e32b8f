"""Logging in and out: sessions, their cookies and their ends."""

from datetime import timedelta

import pytest

from tests import make
from tests.console.visiting import PASSWORD, Visiting
from tests.rows import each_row

pytestmark = pytest.mark.anyio

EMAILS = "/console/projects/default/emails"
HTTPS = "https://console.example.com"


@pytest.fixture
async def ann_at(console: Visiting) -> Visiting:
    """The console, of which ann is a user."""
    await console.add_user("ann")
    return console


async def test_a_session_begins_and_ends_and_only_its_hash_is_stored(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.connection() as conn:
        wrong = await visitor.log_in("ann", "not the password")
        right = await visitor.log_in("ANN", next=EMAILS)
        token = visitor.http.cookies["mailqueue_session"]
        stored = await make.scalar(
            conn, "SELECT jsonb_agg(to_jsonb(s))::text FROM mailqueue.console_sessions AS s"
        )
        seen = await visitor.get(EMAILS)
        out = await visitor.submit(EMAILS, "/console/logout")
        visitor.http.cookies.set("mailqueue_session", token)
        after = await visitor.get(EMAILS)

    assert (wrong.status_code, right.status_code) == (401, 303)
    assert 'value="ann"' in wrong.text, "the name stays"
    assert "not the password" not in wrong.text
    assert right.headers["location"] == EMAILS
    assert seen.status_code == 200
    assert token not in stored
    assert PASSWORD not in stored
    assert (out.headers["location"], after.status_code) == ("/console/login", 303)


async def test_the_password_is_stored_as_a_salted_argon2id_hash(console: Visiting) -> None:
    await console.add_user("ann")
    await console.add_user("ben")
    async with console.connection() as conn:
        rows = await make.rows(conn, "SELECT password_hash FROM mailqueue.console_users")
    hashes = [row[0] for row in rows]

    assert all(each.startswith("$argon2id$v=19$") for each in hashes)
    assert len(set(hashes)) == 2


async def test_a_session_that_was_fixed_in_advance_is_not_used(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor:
        fixed = {"Cookie": "mailqueue_session=chosen-by-an-attacker"}
        first, second = [
            (
                await visitor.post("/console/login", {"name": "ann", "password": PASSWORD}, **fixed)
            ).cookies["mailqueue_session"]
            for _ in range(2)
        ]

    assert len({"chosen-by-an-attacker", first, second}) == 3


async def test_cookies_are_bound_to_the_host_and_encrypted_where_the_page_is(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    async with console.visitor() as plain, console.visitor(origin=HTTPS) as encrypted:
        open_response = await plain.log_in("ann")
        response = await encrypted.log_in("ann")

    for cookie in response.headers.get_list("set-cookie"):
        assert cookie.startswith("__Host-mailqueue_")
        for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
            assert part in cookie
        assert "Domain" not in cookie
    assert response.headers["strict-transport-security"]
    assert "strict-transport-security" not in open_response.headers
    for cookie in open_response.headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie


@pytest.mark.parametrize(
    "change",
    [
        "expires_at = now()",
        "used_at = now() - interval '2 h 1 s'",
        "ended_at = now()",
    ],
)
async def test_a_session_ends_by_itself(console: Visiting, change: str) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        await conn.execute(f"UPDATE mailqueue.console_sessions SET {change}".encode())
        response = await visitor.get(EMAILS)

    assert response.headers["location"].startswith("/console/login?next=")


async def test_a_page_that_is_left_open_does_not_keep_its_session(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        await conn.execute(
            "UPDATE mailqueue.console_sessions SET used_at = now() - interval '1 h 59 min'"
        )
        asked = await visitor.http.get(EMAILS, headers={"HX-Request": "true"})
        age = await make.scalar(conn, "SELECT now() - used_at FROM mailqueue.console_sessions")

    assert asked.status_code == 200
    assert age > timedelta(hours=1)


async def test_a_session_that_is_used_goes_on(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        await conn.execute(
            "UPDATE mailqueue.console_sessions SET used_at = now() - interval '1 h 59 min'"
        )
        assert (await visitor.get(EMAILS)).status_code == 200
        age = await make.scalar(conn, "SELECT now() - used_at FROM mailqueue.console_sessions")

    assert age < timedelta(minutes=1)


@each_row(
    "path",
    [
        "https://evil.example.com/",
        "//evil.example.com",
        "/\\evil.example.com",
        "/console/../../x",
        "/console/./../x?a=b",
        "/console//evil.example.com",
        "/consoles",
        "javascript:alert(1)",
        "/console/x\r\nSet-Cookie: a=b",
    ],
)
async def test_after_the_login_a_browser_stays_in_the_console(ann_at: Visiting, path: str) -> None:
    async with ann_at.visitor() as visitor:
        response = await visitor.log_in("ann", next=path)

    assert response.headers["location"] == "/console"
