"""Destructive acts: they need a login that is recent, or a confirmation, and lose nothing typed."""

import time
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.login.hostile import AtIssuer, at_issuer, text_of
from tests.console.visiting import PASSWORD, Visiting, Visitor

pytestmark = pytest.mark.anyio
CONFIRM = "/console/confirm"


async def cancelling(console: Visiting) -> tuple[UUID, str]:
    """Return an email, and the path by which it is cancelled."""
    async with console.connection() as conn:
        email = await make.queued_email(conn, subject="Your order")
    return email, f"/console/projects/default/emails/{email}/cancel"


async def status_of(console: Visiting, email: UUID) -> str:
    async with console.connection() as conn:
        found: str = await make.scalar(
            conn, "SELECT status FROM mailqueue.emails WHERE id = %s", email
        )
    return found


async def aged(console: Visiting, name: str = "ann") -> None:
    async with console.connection() as conn:
        await conn.execute(console.unconfirmed(name))


async def test_an_act_after_ten_minutes_asks_for_the_password_and_keeps_the_reason(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    email, path = await cancelling(console)
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        fields = await visitor.form(path, path)
        await aged(console)
        sent = await visitor.post(path, fields | {"reason": "twice & wrong"})
        asked = sent.headers["location"]
        before = await status_of(console, email)
        form = await visitor.form(asked, CONFIRM)
        wrong = await visitor.post(CONFIRM, form | {"password": "not the password"})
        right = await visitor.post(CONFIRM, form | {"password": PASSWORD})
        page = await visitor.get(right.headers["location"])
        done = await visitor.submit(right.headers["location"], path, reason="twice & wrong")
        actions = await audited(console)

    assert (sent.status_code, before) == (303, "pending")
    assert urlsplit(asked).path == CONFIRM
    assert "token" not in parse_qs(urlsplit(asked).query)["next"][0]
    assert (wrong.status_code, "not your password" in wrong.text) == (422, True)
    assert form["next"] in wrong.text.replace("&amp;", "&"), "the way back stays"
    assert 'value="twice &amp; wrong"' in page.text
    assert done.headers["location"].endswith("?done=cancel")
    assert await status_of(console, email) == "cancelled"
    assert actions == ["console_user.confirmed", "emails.cancelled"]


async def audited(console: Visiting) -> list[str]:
    async with console.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT action FROM mailqueue.audit_events WHERE action ~ 'confirmed|^email'"
            " ORDER BY id",
        )
    return [row[0] for row in rows]


async def test_a_confirmation_belongs_to_one_session(console: Visiting) -> None:
    await console.add_user("ann")
    _, path = await cancelling(console)
    async with console.visitor() as one, console.visitor() as other:
        await one.log_in("ann")
        await other.log_in("ann")
        await aged(console)
        await one.submit(CONFIRM, CONFIRM, password=PASSWORD)
        statuses = [(await each.get(path)).status_code for each in (one, other)]

    assert statuses == [200, 303]


async def test_an_act_that_can_be_undone_needs_no_confirmation(console: Visiting) -> None:
    await console.add_user("ann")
    _, path = await cancelling(console)
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        await aged(console)
        response = await visitor.get(path.replace("/cancel", "/hold"))

    assert response.status_code == 200


@pytest.mark.parametrize("path", ["//evil.example.com", "https://evil.example.com", "/\\evil"])
async def test_a_confirmation_leads_to_pages_of_the_console_only(
    shared_console: Visiting, path: str
) -> None:
    await shared_console.add_user(f"ann-{len(path)}")
    async with shared_console.visitor() as visitor:
        await visitor.log_in(f"ann-{len(path)}")
        form = await visitor.form(CONFIRM, CONFIRM)
        response = await visitor.post(CONFIRM, form | {"next": path, "password": PASSWORD})

    assert response.headers["location"] == "/console"


async def test_wrong_passwords_of_a_confirmation_are_slowed(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    await console.add_user("ann")
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        form = await visitor.form(CONFIRM, CONFIRM)
        monkeypatch.setattr("mailqueue.admin.users.attempts.asyncio.sleep", sleep)
        statuses = {
            (await visitor.post(CONFIRM, form | {"password": f"wrong {n}"})).status_code
            for n in range(20)
        }

    assert statuses == {422, 429}
    assert waits


async def at_the_issuer(at: AtIssuer, visitor: Visitor, path: str, **claims: object) -> str:
    """Confirm at the issuer; return where that leads, or why it is refused."""
    response = await at.log_in(visitor, path, start=f"{CONFIRM}/issuer", **claims)
    return response.headers.get("location") or text_of(response)


async def test_a_user_of_an_issuer_logs_in_there_once_more(database: DatabaseSettings) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        _, path = await cancelling(at.console)
        await at.log_in(visitor, groups=["admins"])
        await aged(at.console)
        asked = (await visitor.get(path)).headers["location"]
        page = await visitor.get(asked)
        sent = await at.begin(visitor, path, start=f"{CONFIRM}/issuer")
        just = int(time.time())
        wrong: dict[str, dict[str, object]] = {
            "no time": {},
            "long ago": {"auth_time": just - 600},
            "another person": {"auth_time": just, "sub": "user-2"},
        }
        refused = {
            why: await at_the_issuer(at, visitor, path, **claims) for why, claims in wrong.items()
        }
        still = await visitor.get(path)
        right = await at_the_issuer(at, visitor, path, auth_time=just - 5)
        after = await visitor.get(path)

    assert "Log in again at" in page.text
    assert 'name="password"' not in page.text
    assert (sent["prompt"], sent["max_age"]) == ("login", "0")
    assert "auth_time" in refused["no time"]
    assert "auth_time" in refused["long ago"]
    assert "Another person" in refused["another person"]
    assert (still.status_code, right, after.status_code) == (303, path, 200)


async def test_a_login_at_the_issuer_confirms_the_session_that_asked_for_it(
    database: DatabaseSettings,
) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        _, path = await cancelling(at.console)
        await at.log_in(visitor, groups=["admins"])
        at.issuer.said = {"auth_time": int(time.time())}
        asked = await at.begin(visitor, path, start=f"{CONFIRM}/issuer")
        code = at.issuer.issue(asked)
        await visitor.submit("/console/account", "/console/logout")
        response = await at.answered(visitor, state=asked["state"], code=code)

    assert response.status_code == 401
    assert "has ended" in text_of(response)
    assert "mailqueue_session" not in response.cookies
