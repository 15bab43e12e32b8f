"""Values of users of the console: bound to user and purpose, and moved by a rotation."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from mailqueue.admin.users import manage
from mailqueue.admin.users.second_factor import store
from mailqueue.contract.maintenance import Rotated
from mailqueue.core.errors import ConfigError
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.rotation import rotate
from mailqueue.vault.users import Purpose, UserValue, open_for_user, seal_for_user
from mailqueue.vault.vault import check_master_key
from tests import make
from tests.vault.sealed import FIRST, SECOND

pytestmark = pytest.mark.anyio
SECRET = b"a secret of 20 bytes"
FACTOR = Purpose.SECOND_FACTOR


async def factor_of(conn: Conn, name: str) -> UUID:
    """Add a user with a second factor under the first key; return the user's id."""
    await manage.add(conn, name, role="superadmin", by="tests")
    user = (await manage.find(conn, name)).id
    await conn.execute(
        "UPDATE mailqueue.console_users SET password_hash = 'x' WHERE id = %s", (user,)
    )
    value = seal_for_user(FIRST, user, FACTOR, SECRET)
    assert await store.begin_second_factor(
        conn, user, session=uuid4(), master_key=value.master_key_id, sealed=value.sealed
    )
    return user


async def opened(conn: Conn, user: UUID, master: MasterKey) -> bytes | None:
    found = await store.find_second_factor(conn, user)
    assert found is not None
    return open_for_user(master, user, FACTOR, UserValue(found.master_key_id, found.sealed))


def test_a_value_opens_for_its_user_its_purpose_and_its_key_alone() -> None:
    user = uuid4()
    value = seal_for_user(FIRST, user, FACTOR, SECRET)
    other = seal_for_user(FIRST, user, FACTOR, SECRET)

    assert open_for_user(FIRST, user, FACTOR, value) == SECRET
    assert open_for_user(SECOND, user, FACTOR, value) == SECRET, "it knows the key before"
    assert (SECRET in value.sealed, value.sealed == other.sealed) == (False, False)
    assert open_for_user(FIRST, uuid4(), FACTOR, value) is None
    assert open_for_user(FIRST, user, Purpose.LOGIN, value) is None
    assert open_for_user(replace(SECOND, previous=None), user, FACTOR, value) is None
    assert open_for_user(SECOND, user, FACTOR, UserValue(SECOND.id, value.sealed)) is None
    for damaged in (b"", b"\x01", value.sealed[:-1], value.sealed[:8], b"\x02" + value.sealed[1:]):
        assert open_for_user(FIRST, user, FACTOR, UserValue(FIRST.id, damaged)) is None


async def test_a_rotation_moves_second_factors_to_the_new_key(conn: Conn) -> None:
    users = [await factor_of(conn, name) for name in ("ann", "ben")]
    alone = replace(SECOND, previous=None)
    assert await opened(conn, users[0], alone) is None

    done = await rotate(conn, SECOND, by="me")
    again = await rotate(conn, SECOND, by="me")

    assert (done, again) == (Rotated(0, 0, 2, ()), Rotated(0, 0, 0, ()))
    assert [await opened(conn, user, alone) for user in users] == [SECRET, SECRET]
    await check_master_key(conn, alone)


async def test_a_key_that_a_second_factor_needs_is_missed(conn: Conn) -> None:
    await factor_of(conn, "ann")

    await check_master_key(conn, FIRST)
    with pytest.raises(ConfigError, match=f"sealed under {FIRST.id}"):
        await check_master_key(conn, replace(SECOND, previous=None))
    with pytest.raises(ConfigError, match=f"sealed under {FIRST.id}"):
        await rotate(conn, replace(SECOND, previous=None), by="me")


async def test_a_second_factor_of_another_user_is_named_and_the_others_are_moved(
    conn: Conn,
) -> None:
    ann, ben = await factor_of(conn, "ann"), await factor_of(conn, "ben")
    await conn.execute(
        "UPDATE mailqueue.console_second_factors AS f SET sealed = o.sealed"
        " FROM mailqueue.console_second_factors AS o WHERE f.user_id = %s AND o.user_id = %s",
        (ann, ben),
    )

    done = await rotate(conn, SECOND, by="me")

    assert (done.resealed, len(done.damaged)) == (1, 1)
    assert f"console_second_factors.sealed of {ann}" in done.damaged[0]
    assert await opened(conn, ben, SECOND) == SECRET
    left = "SELECT count(*) FROM mailqueue.console_second_factors WHERE master_key_id = %s"
    assert await make.scalar(conn, left, FIRST.id) == 1
