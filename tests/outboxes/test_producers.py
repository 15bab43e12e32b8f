"""Logins of producers and view outboxes."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.producers import manage
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.conftest import Server
from tests.outboxes.rows import EF_CORE, PLAIN, WRITTEN, ef_core_values
from tests.rules.logins import login

pytestmark = pytest.mark.anyio


@pytest.fixture
async def owner(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as opened:
        for name in ("shop", "news"):
            await make.project(opened, name)
        yield opened


@pytest.fixture
async def program(owner: Conn, server: Server, fresh_db: str) -> AsyncIterator[Conn]:
    """A connection of a producer's own login."""
    url = server.superuser_url(urlsplit(fresh_db).path[1:])
    async with login(url, "mailqueue_producer") as opened:
        yield opened


async def test_a_producer_inserts_and_reads_what_became_of_it_and_no_more(
    owner: Conn, program: Conn
) -> None:
    name = await make.scalar(program, "SELECT session_user::text")
    theirs = await make.scalar(program, PLAIN, uuid4())
    await manage.bind(owner, name, ["shop"], by="ann")
    email = uuid4()

    number = await make.scalar(program, EF_CORE, *ef_core_values(email))

    told = "SELECT id, is_sent, sequence_number, created_at, sent_at, project, status"
    assert await make.rows(program, f"{told} FROM mailqueue.outboxes") == [
        (email, False, number, WRITTEN, None, "shop", "pending")
    ]
    assert theirs != email
    for column in ("to_email", "to_name", "subject", "body", "custom_data", "reason"):
        with pytest.raises(errors.InsufficientPrivilege):
            await program.execute(f"SELECT {column} FROM mailqueue.outboxes".encode())
    with pytest.raises(errors.InsufficientPrivilege):
        await program.execute(b"SELECT id FROM mailqueue.outbox_rows")


async def test_a_bound_login_learns_nothing_of_ids_of_other_projects(
    owner: Conn, program: Conn
) -> None:
    await manage.bind(
        owner, await make.scalar(program, "SELECT session_user::text"), ["shop"], by="ann"
    )
    with pytest.raises(errors.InsufficientPrivilege) as info:
        await program.execute(
            b"INSERT INTO mailqueue.outboxes (to_email, subject, body, project)"
            b" VALUES ('ann@example.com', 's', 'b', 'news')"
        )
    assert "may not enqueue for project news" in (info.value.diag.message_primary or "")
