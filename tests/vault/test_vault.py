"""Data keys in the database: one for each project, under the right master key."""

import asyncio
from uuid import UUID

import pytest

from mailqueue.core.errors import ConfigError, SealBroken
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.ids import find_project_id
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault import store
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell
from mailqueue.vault.vault import check_master_key, open_sealed, seal

pytestmark = pytest.mark.anyio

MASTER = MasterKey(bytes(range(32)))
OTHER = MasterKey(bytes(32))


async def default_project(conn: Conn) -> UUID:
    project_id = await find_project_id(conn, "default")
    assert project_id is not None
    return project_id


async def a_place(conn: Conn) -> SealedCell:
    return SealedCell(await default_project(conn), "sender_accounts", "smtp_password", 42)


async def test_what_a_project_seals_it_opens(conn: Conn) -> None:
    place = await a_place(conn)

    sealed = await seal(conn, MASTER, place=place, plaintext=b"hunter2")

    assert b"hunter2" not in sealed
    assert await open_sealed(conn, MASTER, place=place, sealed=sealed) == b"hunter2"


async def test_a_project_keeps_one_data_key(conn: Conn) -> None:
    place = await a_place(conn)

    first = await seal(conn, MASTER, place=place, plaintext=b"a")
    second = await seal(conn, MASTER, place=place, plaintext=b"b")

    assert first[1:17] == second[1:17]


async def test_the_data_key_does_not_lie_open_in_the_database(conn: Conn) -> None:
    place = await a_place(conn)
    await seal(conn, MASTER, place=place, plaintext=b"a")

    row = await store.find_active_data_key(conn, place.project_id)

    assert row is not None
    assert row.master_key_id == MASTER.id
    assert len(row.wrapped) == 12 + 32 + 16
    assert repr(row.wrapped) not in repr(row)


async def test_another_master_key_opens_nothing(conn: Conn) -> None:
    place = await a_place(conn)
    sealed = await seal(conn, MASTER, place=place, plaintext=b"hunter2")

    with pytest.raises(SealBroken):
        await open_sealed(conn, OTHER, place=place, sealed=sealed)


async def test_another_master_key_does_not_seal_beside_the_first(conn: Conn) -> None:
    """No single process could open values under two keys."""
    place = await a_place(conn)
    await seal(conn, MASTER, place=place, plaintext=b"hunter2")

    with pytest.raises(ConfigError, match=MASTER.id):
        await seal(conn, OTHER, place=place, plaintext=b"x")


@pytest.mark.parametrize("sealed", [b"", b"hunter2", b"\x01" + bytes(80), b"\x02" + bytes(80)])
async def test_what_was_never_sealed_does_not_open(conn: Conn, sealed: bytes) -> None:
    with pytest.raises(SealBroken, match=r"sender_accounts\.smtp_password of 42"):
        await open_sealed(conn, MASTER, place=await a_place(conn), sealed=sealed)


async def test_a_destroyed_data_key_opens_nothing(conn: Conn) -> None:
    place = await a_place(conn)
    sealed = await seal(conn, MASTER, place=place, plaintext=b"hunter2")
    await conn.execute("UPDATE mailqueue.data_keys SET state = 'destroyed', wrapped = NULL")

    with pytest.raises(SealBroken):
        await open_sealed(conn, MASTER, place=place, sealed=sealed)


async def test_the_master_key_is_checked_against_what_is_stored(conn: Conn) -> None:
    await check_master_key(conn, None)
    await seal(conn, MASTER, place=await a_place(conn), plaintext=b"hunter2")

    await check_master_key(conn, MASTER)
    with pytest.raises(ConfigError, match=f"{OTHER.id}, but .* under {MASTER.id}"):
        await check_master_key(conn, OTHER)
    with pytest.raises(ConfigError, match=f"no master key is set, but .* under {MASTER.id}"):
        await check_master_key(conn, None)


async def test_first_seals_at_the_same_time_agree_on_one_data_key(fresh_db: str) -> None:
    settings = DatabaseSettings(Secret(fresh_db))

    async def seal_one(number: int) -> bytes:
        async with connect(settings) as conn, conn.transaction():
            place = await a_place(conn)
            return await seal(conn, MASTER, place=place, plaintext=str(number).encode())

    sealed = await asyncio.gather(*(seal_one(number) for number in range(8)))

    assert len({value[1:17] for value in sealed}) == 1
    async with connect(settings) as conn:
        place = await a_place(conn)
        opened = [await open_sealed(conn, MASTER, place=place, sealed=each) for each in sealed]
    assert opened == [str(number).encode() for number in range(8)]
