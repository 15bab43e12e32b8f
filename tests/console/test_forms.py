"""Forms act once, belong to a session and a path, and keep what was typed."""

import asyncio
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest

from mailqueue.core.secret import Secret
from mailqueue.web import tokens
from tests import make
from tests.console.visiting import Visiting, fields_of
from tests.rows import each_row

pytestmark = pytest.mark.anyio

NOW = 1_900_000_000.0
SESSION = Secret("a session")


async def email_of(console: Visiting, **columns: object) -> UUID:
    async with console.connection() as conn:
        return await make.queued_email(conn, subject="Your order", **columns)


def path_of(email: UUID, action: str = "") -> str:
    return f"/console/projects/default/emails/{email}{'/' if action else ''}{action}"


async def audited(console: Visiting) -> list[tuple[str, str]]:
    async with console.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT actor, action FROM mailqueue.audit_events"
            " WHERE action LIKE 'email%%' ORDER BY id",
        )
    return [(row[0], row[1]) for row in rows]


async def test_a_form_that_is_sent_twice_acts_once(console: Visiting) -> None:
    await console.add_user("ann")
    email = await email_of(console)
    path = path_of(email, "hold")
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        fields = await visitor.form(path, path)
        both = await asyncio.gather(
            *(visitor.post(path, fields | {"reason": "wrong price"}) for _ in range(2))
        )
        later = await visitor.post(path, fields)
        page = await visitor.get(later.headers["location"])

    assert sorted(
        parse_qs(urlsplit(each.headers["location"]).query)["done"][0] for each in both
    ) == [
        "before",
        "hold",
    ]
    assert later.headers["location"].endswith("?done=before")
    assert "was not done again" in page.text
    (written,) = await audited(console)
    assert written[1] == "emails.held"
    assert "ann (console)" in written[0]


async def test_a_form_without_a_valid_token_does_nothing(console: Visiting) -> None:
    await console.add_user("ann")
    await console.add_user("ben")
    email, other = await email_of(console), await email_of(console)
    path = path_of(email, "cancel")
    async with console.visitor() as visitor, console.visitor() as another:
        await visitor.log_in("ann")
        await another.log_in("ben")
        mine = await visitor.form(path, path)
        for token in (
            "",
            "x",
            "é",
            mine["token"][:-4] + "AAA=",
            (await another.form(path, path))["token"],
            (await visitor.form(path_of(other, "cancel"), path_of(other, "cancel")))["token"],
        ):
            response = await visitor.post(path, {"token": token})
            assert response.status_code == 403, token
        cross = await visitor.post(path, mine, Origin="https://evil.example.com")
        assert cross.status_code == 403
        assert await audited(console) == []
        assert (await visitor.post(path, mine)).status_code == 303

    assert [action for _, action in await audited(console)] == ["emails.cancelled"]


def test_a_token_ends_and_belongs_to_a_session_and_a_path() -> None:
    token = tokens.new_token(SESSION, "/a", now=NOW)

    assert tokens.is_valid(token, SESSION, "/a", now=NOW)
    assert tokens.is_valid(token, SESSION, "/a", now=NOW + tokens.MAX_AGE_SECONDS - 61)
    assert not tokens.is_valid(token, SESSION, "/a", now=NOW + tokens.MAX_AGE_SECONDS)
    assert not tokens.is_valid(token, SESSION, "/a", now=NOW - 3600)
    assert not tokens.is_valid(token, SESSION, "/b", now=NOW)
    assert not tokens.is_valid(token, Secret("another"), "/a", now=NOW)
    assert token != tokens.new_token(SESSION, "/a", now=NOW)


async def test_an_action_that_is_not_possible_keeps_the_reason_and_may_be_sent_again(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    email = await email_of(console)
    path = path_of(email, "hold")
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        fields = await visitor.form(path, path)
        long = await visitor.post(path, fields | {"reason": "x" * 501})
        async with console.connection() as conn:
            await conn.execute(
                "SELECT mailqueue.hold_emails(project_id, ARRAY[id], 'x')"
                " FROM mailqueue.email_queue"
            )
        refused = await visitor.post(path, fields | {"reason": "wrong <price>"})
        async with console.connection() as conn:
            await conn.execute(
                "SELECT mailqueue.release_emails(project_id, ARRAY[id]) FROM mailqueue.email_queue"
            )
        done = await visitor.post(path, fields | {"reason": "wrong <price>"})

    assert (long.status_code, "x" * 501 in long.text) == (422, True)
    assert refused.status_code == 409
    assert "only mail that is pending can be held" in refused.text.lower()
    assert done.headers["location"].endswith("?done=hold"), "a refused form was not used up"


async def test_a_session_that_ended_keeps_what_was_typed(console: Visiting) -> None:
    await console.add_user("ann")
    email = await email_of(console)
    path = path_of(email, "cancel")
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        fields = await visitor.form(path, path)
        async with console.connection() as conn:
            await conn.execute("UPDATE mailqueue.console_sessions SET ended_at = now()")
        sent = await visitor.post(path, fields | {"reason": "ordered & paid twice"})
        login = await visitor.get(sent.headers["location"])
        after = fields_of(login.text, "/console/login")["next"]
        response = await visitor.log_in("ann", next=after)
        page = await visitor.get(response.headers["location"])

    assert sent.status_code == 303
    assert "token" not in sent.headers["location"]
    assert 'value="ordered &amp; paid twice"' in page.text
    assert await audited(console) == []


async def test_a_part_of_a_page_sends_the_browser_to_the_login(console: Visiting) -> None:
    async with console.visitor() as visitor:
        response = await visitor.http.get(path_of(uuid4(), "live"), headers={"HX-Request": "true"})

    assert response.headers["hx-redirect"] == "/console/login"
    assert response.text == ""


async def test_forms_that_cannot_be_read_are_refused(console: Visiting) -> None:
    form = "application/x-www-form-urlencoded"
    async with console.visitor() as visitor:
        for body, kind, status in (
            (b"name=ann", "text/plain", 415),
            (b"{}", "application/json", 415),
            (b"name=" + b"x" * 100_000, form, 413),
            (b"name=%ff", form, 400),
            (b"\xff", form, 400),
            (b"&".join(b"n%d=x" % number for number in range(200)), form, 400),
        ):
            response = await visitor.http.post(
                "/console/login",
                content=body,
                headers={"Content-Type": kind, "Origin": visitor.origin},
            )
            assert response.status_code == status, body[:20]


@each_row("charset", ["no-such", "utf-7", "undefined", "hex"])
async def test_a_form_in_another_charset_is_refused_with_a_sentence(
    console: Visiting, charset: str
) -> None:
    parts = b'--end\r\nContent-Disposition: form-data; name="name"\r\n\r\n+2AA-\r\n--end--\r\n'
    async with console.visitor() as visitor:
        response = await visitor.http.post(
            "/console/login",
            content=parts,
            headers={
                "Origin": visitor.origin,
                "Content-Type": f"multipart/form-data; boundary=end; charset={charset}",
            },
        )

    assert response.status_code == 415
    assert "The form must be in UTF-8" in response.text
