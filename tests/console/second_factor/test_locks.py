"""Logins by a code beside others that change the same user: all wait in one order."""

import asyncio

import pytest

from mailqueue.admin.users import store as users_store
from mailqueue.admin.users.beginning import LASTS
from mailqueue.admin.users.second_factor import store
from tests import make
from tests.console.second_factor.device import added
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio


@pytest.mark.deep
@pytest.mark.parametrize(
    "other",
    [
        pytest.param("reset_console_second_factor('ann', 'eve')", id="reset"),
        pytest.param("remove_console_user('ann', 'eve')", id="removed"),
    ],
)
async def test_a_login_beside_a_reset_or_removal_ends_in_no_deadlock(
    console: Visiting, other: str
) -> None:
    await added(console)
    async with console.connection() as conn, console.connection() as second:
        query = "SELECT id, password_hash FROM mailqueue.console_users WHERE name = 'ann'"
        ((user, password_hash),) = await make.rows(conn, query)
        pid = await make.scalar(second, "SELECT pg_backend_pid()")
        async with conn.transaction():
            assert await store.use_up(conn, user, step=1)
            changed = asyncio.create_task(make.scalar(second, f"SELECT mailqueue.{other}"))
            blocked = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
            async with asyncio.timeout(10):
                while not await make.scalar(conn, blocked, pid):  # noqa: ASYNC110 - of a server
                    await asyncio.sleep(0.01)
            session = await users_store.begin_session(
                conn,
                user,
                password_hash=password_hash,
                token_hash=b"t" * 32,
                browser_hash=b"b" * 32,
                address=None,
                user_agent=None,
                lasts=LASTS,
                is_whole=True,
            )
        assert session is not None
        assert await changed is True
        query = "SELECT ended_at IS NOT NULL FROM mailqueue.console_sessions WHERE id = %s"
        assert await make.scalar(conn, query, session), "it ended with the others"
