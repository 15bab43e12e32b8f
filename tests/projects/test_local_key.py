"""The key of `mailqueue up`: kept in its folder, and replaced when it is no longer valid."""

from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.projects.keys.local import FILE_NAME, keep_local_key
from mailqueue.projects.keys.manage import find_key

pytestmark = pytest.mark.anyio


async def test_the_key_stays_until_it_is_out_of_force(conn: Conn, tmp_path: Path) -> None:
    first = await keep_local_key(conn, tmp_path)
    assert first is not None
    assert await keep_local_key(conn, tmp_path) == first
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600

    await conn.execute("UPDATE mailqueue.api_keys SET revoked_at = now()")
    second = await keep_local_key(conn, tmp_path)

    assert second not in (None, first)
    assert await find_key(conn, second or "") is not None


async def test_where_no_test_keys_are_given_out_there_is_none(conn: Conn, tmp_path: Path) -> None:
    await conn.execute("SELECT mailqueue.change_setting('test_keys', 'off')")

    assert await keep_local_key(conn, tmp_path) is None
    assert not (tmp_path / FILE_NAME).exists()
