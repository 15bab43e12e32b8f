"""An id in view outboxes is taken once, for good."""

import asyncio
from uuid import uuid4

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, sent
from tests.outboxes.rows import PLAIN

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("is_finished", [False, True], ids=["queued", "sent"])
async def test_a_second_insert_of_an_id_is_refused_as_by_a_table(
    conn: Conn, is_finished: bool
) -> None:
    email = uuid4()
    await make.scalar(conn, PLAIN, email)
    if is_finished:
        await make.sender_account(conn)
        await sent(conn, await claim(conn, await make.worker(conn)))

    with pytest.raises(errors.UniqueViolation) as info:
        async with conn.transaction():
            await make.scalar(conn, PLAIN, email)

    told = info.value.diag
    assert told.message_primary == (
        'duplicate key value violates unique constraint "outboxes_pkey"'
    )
    assert told.message_detail == f"Key (id)=({email}) already exists."
    assert (told.schema_name, told.table_name, told.constraint_name) == (
        "mailqueue",
        "outboxes",
        "outboxes_pkey",
    )


@pytest.mark.parametrize("is_finished", [False, True], ids=["queued", "sent"])
async def test_an_id_that_another_interface_accepted_is_refused(
    conn: Conn, is_finished: bool
) -> None:
    email = await make.queued_email(conn)
    if is_finished:
        await make.sender_account(conn)
        await sent(conn, await claim(conn, await make.worker(conn)))

    with pytest.raises(errors.UniqueViolation) as info:
        async with conn.transaction():
            await make.scalar(conn, PLAIN, email)

    assert info.value.diag.constraint_name == "outboxes_pkey"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails") == 1


async def test_with_skip_a_second_insert_gives_no_row(conn: Conn) -> None:
    skip = "SELECT mailqueue.change_project('default', '{\"outbox_duplicates\": \"skip\"}')"
    await conn.execute(skip.encode())
    email, other = uuid4(), uuid4()
    assert await make.scalar(conn, PLAIN, email) == email

    again = await conn.execute(PLAIN.encode(), [email])
    both = await make.rows(
        conn,
        "INSERT INTO mailqueue.outboxes (id, to_email, subject, body) VALUES"
        " (%s, 'ann@example.com', 's', 'b'), (%s, 'ben@example.com', 's', 'b') RETURNING id",
        email,
        other,
    )

    assert (again.rowcount, both) == (0, [(other,)])
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 2


async def test_skip_does_not_hide_the_id_of_another_project(conn: Conn) -> None:
    await make.project(conn, "shop", outbox_duplicates="skip")
    email = uuid4()
    await make.scalar(conn, PLAIN, email)

    with pytest.raises(errors.UniqueViolation):
        async with conn.transaction():
            await conn.execute(
                b"INSERT INTO mailqueue.outboxes (id, to_email, subject, body, project)"
                b" VALUES (%s, 'ann@example.com', 's', 'b', 'shop')",
                [email],
            )


async def test_an_insert_that_rolls_back_gives_its_id_back(conn: Conn) -> None:
    email = uuid4()
    async with conn.transaction(force_rollback=True):
        await make.scalar(conn, PLAIN, email)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.outboxes") == 0
    assert await make.scalar(conn, PLAIN, email) == email


async def test_of_two_writers_of_an_id_one_is_refused(database: DatabaseSettings) -> None:
    email = uuid4()

    async def insert() -> int:
        async with connect(database) as conn:
            try:
                return (await conn.execute(PLAIN.encode(), [email])).rowcount
            except errors.UniqueViolation:
                return 0

    assert sorted(await asyncio.gather(*(insert() for _ in range(6)))) == [0, 0, 0, 0, 0, 1]
