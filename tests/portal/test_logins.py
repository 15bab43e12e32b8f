"""Persons are invited, choose a password, log in and out, and reset it by our own mail."""

import re
from http import HTTPStatus

import pytest

from mailqueue.admin.users.attempts import PASSWORDS, WAIT_SECONDS
from mailqueue.db.fetch import Conn
from tests import make
from tests.console.visiting import fields_of
from tests.portal.visiting import HOME, ORIGIN, PASSWORD, Visiting
from tests.watch import watching

pytestmark = pytest.mark.anyio

OTHER = "another long passphrase"
LINK = re.compile(rf"{re.escape(ORIGIN)}(/inbox/default/welcome\?link=[A-Za-z0-9_]+)")


async def mailed(conn: Conn) -> list[str]:
    """Return the paths of the links in queued mail, the earliest first."""
    rows = await make.rows(
        conn,
        "SELECT c.text_body FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.email_contents AS c ON c.id = q.content_id ORDER BY q.id",
    )
    return [found[1] for (text,) in rows if (found := LINK.search(text)) is not None]


async def asked(portal: Visiting, email: str = "ann@example.com") -> str:
    async with portal.visitor() as visitor:
        response = await visitor.submit("/forgotten", "/forgotten", email=email)
    assert response.status_code == HTTPStatus.OK
    return response.text


async def test_an_invitation_works_once_and_looking_at_it_uses_nothing_up(
    portal: Visiting,
) -> None:
    async with portal.connection() as conn:
        ann = await watching.user(conn)
    link = await portal.link(ann)
    async with portal.visitor() as visitor:
        for _ in range(3):
            assert (await visitor.http.get(link)).status_code == HTTPStatus.OK
            assert (await visitor.http.head(link)).status_code == HTTPStatus.OK
        chosen = await visitor.choose(link)
        again = await visitor.http.get(link)
        logged_in = await visitor.log_in()
        page = await visitor.text()

    assert "Your password is set" in chosen.text
    assert again.status_code == HTTPStatus.NOT_FOUND
    assert logged_in.headers["location"] == HOME
    assert "No inbox is watched yet" in page


async def test_who_is_logged_in_and_sets_a_password_by_a_link_can_log_in_with_it(
    portal: Visiting,
) -> None:
    ann = await portal.person()
    link = await portal.link(ann)
    async with portal.visitor() as visitor:
        await visitor.log_in()
        visitor.http.cookies.delete("inbox_form_default")
        chosen = await visitor.choose(link, OTHER)
        hidden = fields_of(chosen.text, f"{HOME}/login")
        logged_in = await visitor.post(
            "/login", hidden | {"email": "ann@example.com", "password": OTHER}
        )

    assert "Log out" not in chosen.text
    assert logged_in.status_code == HTTPStatus.SEE_OTHER, logged_in.text
    assert logged_in.headers["location"] == HOME


async def test_links_passwords_and_sessions_are_stored_as_hashes(portal: Visiting) -> None:
    ann = await portal.person()
    link = (await portal.link(ann)).partition("=")[2]
    async with portal.visitor() as visitor:
        await visitor.log_in()
        tokens = [value for value in visitor.http.cookies.values() if value]
    async with portal.connection() as conn:
        stored = await make.scalar(
            conn,
            "SELECT (SELECT string_agg(l::text, '') FROM mailqueue.inbox_links AS l)"
            " || (SELECT string_agg(l::text, '') FROM mailqueue.inbox_logins AS l)"
            " || (SELECT string_agg(s::text, '') FROM mailqueue.inbox_sessions AS s)"
            " || (SELECT string_agg(a::text, '') FROM mailqueue.audit_events AS a)",
        )

    assert len(tokens) >= 2
    assert not any(secret in stored for secret in (link, PASSWORD, *tokens))
    assert "$argon2id$" in stored


async def test_a_link_that_ended_is_refused(portal: Visiting) -> None:
    async with portal.connection() as conn:
        ann = await watching.user(conn)
        link = await portal.link(ann)
        await conn.execute("UPDATE mailqueue.inbox_links SET expires_at = now()")
    async with portal.visitor() as visitor:
        response = await visitor.http.get(link)

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert "was used, or is too old" in response.text


async def test_a_wrong_password_and_an_unknown_address_or_project_have_one_answer(
    portal: Visiting,
) -> None:
    await portal.person()
    texts = set()
    for home, email in (
        (HOME, "ann@example.com"),
        (HOME, "unknown@example.com"),
        ("/inbox/no-such-project", "ann@example.com"),
    ):
        async with portal.visitor(home) as visitor:
            response = await visitor.log_in(email, "a wrong password")
            assert response.status_code == HTTPStatus.UNAUTHORIZED
            text = re.sub(r'name="token" value="[^"]*"', "", response.text)
            texts.add(text.replace(email, "E").replace(home.rpartition("/")[2], "P"))

    assert len(texts) == 1
    assert "Address or password is wrong." in texts.pop()


async def test_who_tries_passwords_is_locked_out_and_others_are_not(portal: Visiting) -> None:
    await portal.person()
    async with portal.visitor(address="192.0.2.9") as visitor:
        await visitor.log_in(password="a wrong password")
    async with portal.connection() as conn:
        await conn.execute(
            "UPDATE mailqueue.console_attempts SET next_at = now() + make_interval(secs => %s)",
            (WAIT_SECONDS + 2 * PASSWORDS.seconds * PASSWORDS.burst,),
        )
    async with portal.visitor(address="192.0.2.9") as visitor:
        refused = await visitor.log_in()
        asked_for = await visitor.submit("/forgotten", "/forgotten", email="ann@example.com")
    async with portal.visitor(address="192.0.2.10") as visitor:
        taken = await visitor.log_in()

    assert refused.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert int(refused.headers["retry-after"]) >= 1
    assert asked_for.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert taken.status_code == HTTPStatus.SEE_OTHER


async def test_a_reset_is_mailed_by_the_project_and_ends_sessions_and_other_links(
    portal: Visiting,
) -> None:
    await portal.person()
    async with portal.connection() as conn:
        await make.sender_account(conn, name="relay")
    async with portal.visitor() as visitor:
        await visitor.log_in()
        await asked(portal)
        await asked(portal)
        async with portal.connection() as conn:
            first, second = await mailed(conn)
        # The second does not end the first.
        chosen = await visitor.choose(first, OTHER)
        over = await visitor.get()
        used = await visitor.http.get(second)
        old = await visitor.log_in()
        new = await visitor.log_in(password=OTHER)

    assert "Your password is set" in chosen.text
    assert over.headers["location"].endswith("/login")
    assert used.status_code == HTTPStatus.NOT_FOUND
    assert (old.status_code, new.status_code) == (401, 303)


async def test_asking_for_a_reset_does_not_say_whether_an_address_is_known(
    portal: Visiting,
) -> None:
    await portal.person()
    async with portal.connection() as conn:
        await make.sender_account(conn, name="relay")
        await watching.user(conn, "never@example.com")
    answers = {
        (await asked(portal, email)).replace(email, "E")
        for email in ("ann@example.com", "unknown@example.com", "never@example.com")
    }
    async with portal.connection() as conn:
        to = await make.rows(conn, "SELECT recipient_email FROM mailqueue.email_queue")

    assert len(answers) == 1
    assert to == [("ann@example.com",)]


async def test_at_most_three_resets_of_a_person_are_in_force(portal: Visiting) -> None:
    await portal.person()
    async with portal.connection() as conn:
        await make.sender_account(conn, name="relay")
    for _ in range(5):
        await asked(portal)
    async with portal.connection() as conn:
        links = await mailed(conn)
    async with portal.visitor() as visitor:
        statuses = [(await visitor.http.get(link)).status_code for link in links]

    assert statuses == [200, 200, 200]


async def test_a_new_password_does_not_let_more_resets_be_mailed(portal: Visiting) -> None:
    await portal.person()
    async with portal.connection() as conn:
        await make.sender_account(conn, name="relay")
    answers = [await asked(portal) for _ in range(3)]
    async with portal.connection() as conn:
        links = await mailed(conn)
    async with portal.visitor() as visitor:
        await visitor.choose(links[0], OTHER)
    answers.append(await asked(portal))
    async with portal.connection() as conn:
        assert await mailed(conn) == links
        await conn.execute("UPDATE mailqueue.console_attempts SET next_at = now()")
    await asked(portal)
    async with portal.connection() as conn:
        assert len(await mailed(conn)) == 4

    assert len(links) == 3
    assert len(set(answers)) == 1


async def test_removing_a_person_ends_sessions_and_links(portal: Visiting) -> None:
    ann = await portal.person()
    link = await portal.link(ann)
    async with portal.visitor() as visitor:
        await visitor.log_in()
        async with portal.connection() as conn:
            await conn.execute("DELETE FROM mailqueue.inbox_users")
        over = await visitor.get()
        used = await visitor.http.get(link)

    assert over.status_code == HTTPStatus.SEE_OTHER
    assert used.status_code == HTTPStatus.NOT_FOUND


async def test_a_person_logs_out_ends_a_session_and_changes_the_password(
    portal: Visiting,
) -> None:
    await portal.person()
    async with portal.visitor() as here, portal.visitor() as there:
        await here.log_in()
        await there.log_in()
        wrong = await here.submit(
            "/account", "/account/password", current="wrong", password=OTHER, again=OTHER
        )
        easy = await here.submit(
            "/account", "/account/password", current=PASSWORD, password="aaaa", again="aaaa"
        )
        changed = await here.submit(
            "/account", "/account/password", current=PASSWORD, password=OTHER, again=OTHER
        )
        ended = await there.get()
        out = await here.submit("/account", "/logout")
        after = await here.get()

    assert (wrong.status_code, easy.status_code) == (422, 422)
    assert "The current password is not your password." in wrong.text
    assert changed.headers["location"].endswith("done=password")
    assert [one.status_code for one in (ended, out, after)] == [303, 303, 303]


async def test_what_persons_do_to_their_logins_is_in_the_audit_log(portal: Visiting) -> None:
    ann = await portal.person()
    async with portal.visitor() as visitor:
        await visitor.log_in()
        await visitor.submit("", "/logout")
    async with portal.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT action, subject, actor FROM mailqueue.audit_events"
            " WHERE action LIKE 'inbox_user.%%' ORDER BY id",
        )

    assert [row[0].removeprefix("inbox_user.") for row in rows] == [
        *("added", "invited", "password_set", "logged_in", "logged_out")
    ]
    assert {row[1] for row in rows} == {str(ann)}
    assert all("tests" in row[2] for row in rows[:2])
    assert all(f"inbox user {ann}" in row[2] for row in rows[2:])
