"""Commands refuse a database whose schema is not that of the code, by the names of the files."""

from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.db.migrate import migrate, require_current
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings

pytestmark = pytest.mark.anyio


async def test_a_command_that_starts_reads_only_the_names_of_the_files(
    empty: DatabaseSettings, folder: Path
) -> None:
    await migrate(empty, folder=folder)
    first = folder / "migrations" / "0001_first.sql"
    first.unlink()
    first.symlink_to(folder / "not_there.sql")

    async with connect(empty) as conn:
        await require_current(conn, folder=folder)


@pytest.mark.parametrize("name", ["first.sql", "0001_again.sql"])
async def test_a_command_that_starts_refuses_names_that_say_no_order(
    empty: DatabaseSettings, folder: Path, name: str
) -> None:
    await migrate(empty, folder=folder)
    (folder / "migrations" / name).write_text("SELECT 1;")

    async with connect(empty) as conn:
        with pytest.raises(ConfigError, match=name):
            await require_current(conn, folder=folder)
