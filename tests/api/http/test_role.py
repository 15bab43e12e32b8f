"""The API and the trap need only the privileges of their role."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from psycopg.errors import InsufficientPrivilege

from mailqueue.administration.users import manage, seeing, sessions
from mailqueue.administration.users.model import LoginSource
from mailqueue.administration.users.passwords import Cost, Passwords
from mailqueue.administration.users.sessions import Logins
from mailqueue.api.http import store
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.schema import SendRequest
from mailqueue.contract.sending import Repeated, Sent
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.reads import emails as reads
from mailqueue.operations import acting
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tenants.actor import act_for
from mailqueue.tenants.keys.manage import find_key, issue_key
from mailqueue.trap import inbox
from mailqueue.trap import store as trap_store
from mailqueue.trap.summary import caught
from tests import make
from tests.conftest import Server
from tests.rules.logins import login
from tests.trap.trapping import HTML

pytestmark = pytest.mark.anyio


async def test_the_role_of_the_api_is_enough(
    server: Server, database: DatabaseSettings, fresh_db: str
) -> None:
    async with connect(database) as owner:
        await make.sender_account(owner, name="pit", provider="trap")
        key = (await issue_key(owner, "default", "web", is_test=True)).key.reveal()
    request = SendRequest(to=["ann@example.com"], subject="x", text_body="x", idempotency_key="k")

    async with login(server.superuser_url(fresh_db.rpartition("/")[2]), "mailqueue_api") as conn:
        assert await store.find_refusal(conn) is None
        caller = await find_key(conn, key)
        assert caller is not None
        email = sending_service.new_email(caller, request)
        (sent,) = await sending_service.accepted_all(conn, [email], project=caller.project)
        (twin,) = await sending_service.accepted_all(conn, [email], project=caller.project)
        assert isinstance(sent, Sent)
        async with conn.transaction():
            await act_for(conn, caller.project_id, by="test")
            found = await reads.find(conn, sent.id, project_id=caller.project_id)
        await trap_store.add(conn, [caught("a@b.example", ("c@d.example",), HTML)])
        (summary,) = await inbox.page(conn, limit=9)
        message = await inbox.get(conn, summary.id)
        beside = await inbox.neighbours(conn, summary.id)
        cleared = await inbox.clear(conn)

    assert isinstance(twin, Repeated)
    assert (twin.id, twin.status) == (sent.id, sent.status)
    assert found.status == "pending"
    assert message.raw == HTML
    assert (beside.older, beside.newer, cleared) == (None, None, 1)


async def test_the_role_of_the_api_is_enough_for_the_console(
    server: Server, database: DatabaseSettings, fresh_db: str
) -> None:
    superuser = server.superuser_url(fresh_db.rpartition("/")[2])
    async with connect(database) as owner:
        email = await make.queued_email(owner)
    async with login(superuser, "mailqueue_api") as conn:

        @asynccontextmanager
        async def lend() -> AsyncIterator[Conn]:
            yield conn

        logins = Logins(lend, Passwords(Cost(memory_kib=64, passes=1, lanes=1)))
        made = await manage.add(conn, "ann", role="viewer", projects=["default"], by="test")
        await logins.set_password(made.token.reveal(), "correct horse battery")
        begun = await logins.log_in("ann", "correct horse battery", LoginSource(None, None, None))
        session = await sessions.find(conn, begun.token)
        assert session is not None
        seen = await seeing.project(conn, session.user_id, "default")
        async with conn.transaction():
            assert await act_for(conn, seen.id, by=session.by)
            assert await seeing.take_action(conn, b"token")
            await acting.note_view(conn, seen.id, email_id=email, part="text")
            done = await acting.act(
                conn, email, project_id=seen.id, action="hold", reason="x", by=session.by
            )
        assert await seeing.project_of_email(conn, session.user_id, email) == "default"
        await logins.change_password(
            session, current="correct horse battery", new="staple battery horse"
        )
        await sessions.end(conn, session.user_id, session.session_id, by=session.by)
        await manage.remove(conn, "ann", by="test")
        with pytest.raises(InsufficientPrivilege):
            await conn.execute("SELECT password_hash FROM mailqueue.console_users")

    assert done.result == "held"
