"""Users: links that set a password, their sessions and passwords, and the audit."""

import pytest

from mailqueue.admin.users import manage
from mailqueue.core.secret import Secret
from mailqueue.projects.keys import text as keys_text
from tests import make
from tests.console.visiting import PASSWORD, Visiting

pytestmark = pytest.mark.anyio

EMAILS = "/console/projects/default/emails"
HTTPS = "https://console.example.com"


async def test_a_link_sets_a_password_once_and_ends_all_sessions(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn:
        made = await manage.renew_link(conn, "ann", by="tests")
        replaced = await manage.renew_link(conn, "Ann", by="tests")
    path = f"/console/welcome?link={replaced.token.reveal()}"
    new = "another good sentence"
    async with console.visitor() as visitor, console.visitor() as old:
        await old.log_in("ann")
        void = await visitor.get(f"/console/welcome?link={made.token.reveal()}")
        still = await old.get(EMAILS)
        fields = await visitor.form(path, "/console/welcome")
        differ = await visitor.post("/console/welcome", fields | {"password": new, "again": "x"})
        weak = await visitor.post(
            "/console/welcome", fields | {"password": "short", "again": "short"}
        )
        done = await visitor.post("/console/welcome", fields | {"password": new, "again": new})
        again = await visitor.post("/console/welcome", fields | {"password": new, "again": new})
        ended = await old.get(EMAILS)
        before = await visitor.log_in("ann")
        after = await visitor.log_in("ann", new)

    assert (void.status_code, still.status_code) == (404, 200)
    assert (differ.status_code, weak.status_code) == (422, 422)
    assert (done.status_code, again.status_code) == (200, 404)
    assert (ended.status_code, before.status_code, after.status_code) == (303, 401, 303)


async def test_an_old_or_invented_link_sets_nothing(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn:
        made = await manage.renew_link(conn, "ann", by="tests")
        await conn.execute("UPDATE mailqueue.console_users SET link_until = now()")
    invented = keys_text.new_secret(manage.LINK_PREFIX)
    async with console.visitor() as visitor:
        for token in (made.token, invented, Secret(""), Secret("x" * 5_000), Secret("é")):
            response = await visitor.post(
                "/console/welcome",
                {"link": token.reveal(), "password": PASSWORD, "again": PASSWORD},
            )
            assert response.status_code == 404


async def test_the_first_user_has_a_link_until_a_superadmin_has_a_password(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        first = await manage.first_link(conn, by="up")
        second = await manage.first_link(conn, by="up")
        assert first is not None
        assert second is not None
        assert first.name == second.name == "admin"
        async with console.visitor() as visitor:
            await visitor.post(
                "/console/welcome",
                {"link": second.token.reveal(), "password": PASSWORD, "again": PASSWORD},
            )
            assert (await visitor.log_in("admin")).status_code == 303
        assert await manage.first_link(conn, by="up") is None
        await manage.remove(conn, "admin", by="tests")
        await manage.add(conn, "eve", role="superadmin", by="tests")
        assert await manage.first_link(conn, by="up") is not None, "eve has no password yet"


async def test_a_user_lists_and_ends_sessions_and_changes_the_password(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    await console.add_user("ben")
    new = "a new and better sentence"
    async with (
        console.visitor() as one,
        console.visitor() as two,
        console.visitor() as ben,
        console.connection() as conn,
    ):
        await one.log_in("ann")
        await two.log_in("ann")
        await ben.log_in("ben")
        of_ben = await make.scalar(
            conn,
            "SELECT s.id FROM mailqueue.console_sessions AS s"
            " JOIN mailqueue.console_users AS u ON u.id = s.user_id WHERE u.name = 'ben'",
        )
        page = await one.get("/console/account")
        assert page.text.count('action="/console/account/sessions"') == 2
        foreign = await one.submit(
            "/console/account", "/console/account/sessions", session=str(of_ben)
        )
        change = {"current": "wrong", "password": new, "again": new}
        refused = await one.submit("/console/account", "/console/account/password", **change)
        changed = await one.submit(
            "/console/account",
            "/console/account/password",
            **{**change, "current": PASSWORD},
        )
        states = [(await each.get("/console/account")).status_code for each in (one, two, ben)]

    assert foreign.status_code == 404
    assert refused.status_code == 422
    assert new not in refused.text
    assert changed.status_code == 303
    assert states == [200, 303, 200], "the other session of ann has ended, that of ben has not"


async def test_a_superadmin_ends_the_sessions_of_another_user(console: Visiting) -> None:
    await console.add_user("ann")
    await console.add_user("ben", "viewer", "default")
    async with console.visitor() as ann, console.visitor() as ben, console.connection() as conn:
        await ann.log_in("ann")
        await ben.log_in("ben")
        user = await make.scalar(conn, "SELECT id FROM mailqueue.console_users WHERE name = 'ben'")
        ended = await ann.submit(f"/console/users/one/{user}", "/console/users/sessions")
        states = [(await each.get("/console/account")).status_code for each in (ann, ben)]

    assert ended.status_code == 303
    assert states == [200, 303]


async def test_what_happens_to_users_stands_in_the_audit(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        await visitor.submit("/console/account", "/console/logout")
        rows = await make.rows(
            conn, "SELECT actor, action, subject FROM mailqueue.audit_events ORDER BY id"
        )

    assert rows == [
        ("tests", "console_user.added", "user ann"),
        ("ann (console)", "console_user.password_set", "user ann"),
        ("ann (console)", "console_user.logged_in", "user ann"),
        ("ann (console)", "console_user.logged_out", "user ann"),
    ]
