"""The error of a command when the database refuses during it."""

from pathlib import Path

import psycopg
import pytest

from mailqueue.cli.support.app import opened
from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import load_settings
from mailqueue.vault.masterkey import create_master_key, master_key_of

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def environment(fresh_db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAILQUEUE_DATABASE_URL", fresh_db)
    monkeypatch.setenv("MAILQUEUE_DATA", str(tmp_path))


async def test_a_connection_lost_in_the_middle_is_unavailable(fresh_db: str) -> None:
    async def lose() -> None:
        async with opened() as app:
            with psycopg.connect(fresh_db) as other:
                other.execute("SELECT pg_terminate_backend(%s)", (app.conn.info.backend_pid,))
            await app.conn.execute("SELECT 1")

    with pytest.raises(Unavailable):
        await lose()


async def test_a_missing_privilege_names_the_user_and_the_thing() -> None:
    with pytest.raises(ConfigError, match=r"user .* lacks a privilege \(permission denied"):
        async with opened() as app:
            await app.conn.execute("SELECT * FROM pg_authid")


async def test_a_view_that_is_not_there_yet_says_how_to_get_it() -> None:
    with pytest.raises(ConfigError, match=r"mailqueue\.nowhere.*mailqueue migrate"):
        async with opened() as app:
            await app.conn.execute("SELECT * FROM mailqueue.nowhere")


async def test_the_master_key_is_the_folders_unless_the_setting_names_one(tmp_path: Path) -> None:
    assert master_key_of(load_settings()) is None
    made = create_master_key(tmp_path)

    assert master_key_of(load_settings()) == made
    given = master_key_of(load_settings(master_key=Secret("00" * 32)))
    assert given is not None
    assert given.key == bytes(32)
