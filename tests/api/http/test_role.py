"""The API and the trap need only the privileges of their role."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pyotp
import pytest
from psycopg.errors import InsufficientPrivilege

from mailqueue.admin.users import manage, seeing, sessions
from mailqueue.admin.users.model import BegunSession, CodeNeeded, LoginSource
from mailqueue.admin.users.passwords import Cost, Passwords
from mailqueue.admin.users.proofs import WrongCode
from mailqueue.admin.users.second_factor.factors import SecondFactors
from mailqueue.admin.users.sessions import make_logins
from mailqueue.api.http import store
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.schema import SendRequest
from mailqueue.contract.sending import Repeated, Sent
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.reads import emails as reads
from mailqueue.operations import acting, search
from mailqueue.projects.actor import act_for
from mailqueue.projects.keys.manage import find_key, issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap import inbox
from mailqueue.trap import store as trap_store
from mailqueue.trap.summary import caught
from mailqueue.vault.masterkey import MasterKey
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

        passwords = Passwords(Cost(memory_kib=64, passes=1, lanes=1))
        logins = make_logins(lend, passwords, lambda: MasterKey(bytes(32)))
        factors = SecondFactors(lend, logins.proofs, "mailqueue")
        made = await manage.add(conn, "ann", role="viewer", projects=["default"], by="test")
        await logins.set_password(made.token.reveal(), "correct horse battery")
        begun = await logins.log_in("ann", "correct horse battery", LoginSource(None, None, None))
        assert isinstance(begun, BegunSession)
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
        matches = await search.search_for_user(conn, session.user_id, str(email))
        assert [match.kind for match in matches] == ["email"]
        await logins.change_password(
            session, current="correct horse battery", new="staple battery horse"
        )
        await factors.begin(session)
        shown = await factors.shown(session)
        assert shown is not None
        app = pyotp.parse_uri(shown.uri.reveal())
        assert isinstance(app, pyotp.TOTP)
        recovery = await factors.turn_on(session, app.now())
        asked = await logins.log_in("ann", "staple battery horse", LoginSource(None, None, None))
        assert isinstance(asked, CodeNeeded)
        codes = [each.reveal() for each in recovery]
        with pytest.raises(WrongCode):
            await factors.log_in(asked.kept, "000", LoginSource(None, None, None))
        await factors.log_in(asked.kept, codes[0], LoginSource(None, None, None))
        changed = await sessions.find(conn, begun.token)
        assert changed is not None
        await logins.confirm(changed, "staple battery horse", codes[1])
        codes = [
            each.reveal()
            for each in await factors.renew_codes(changed, "staple battery horse", codes[2])
        ]
        await factors.turn_off(changed, "staple battery horse", codes[0])
        await manage.change(conn, "ann", reset_second_factor=True, by="test")
        await sessions.end(conn, session.user_id, session.session_id, by=session.by)
        await manage.remove(conn, "ann", by="test")
        with pytest.raises(InsufficientPrivilege):
            await conn.execute("SELECT password_hash FROM mailqueue.console_users")

    assert done.result == "held"
