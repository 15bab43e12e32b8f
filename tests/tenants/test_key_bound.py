"""The bound of a project's API keys holds however many are created at once."""

import asyncio

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tenants.keys.manage import issue_key
from tests import make
from tests.webhooks.delivering import until

pytestmark = pytest.mark.anyio
WAITS = """
    SELECT count(*) > 0 FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def test_two_at_once_are_not_both_the_last_key_of_a_project(
    database: DatabaseSettings,
) -> None:
    async with (
        connect(database) as conn,
        connect(database) as first,
        connect(database) as second,
    ):
        await make.project(conn, "shop")
        await conn.execute(
            "INSERT INTO mailqueue.api_keys (project_id, name, key_hash, hint, is_test, scopes)"
            " SELECT p.id, 'key ' || n, sha256(n::text::bytea), 'mq_test_x', true,"
            " ARRAY['project:read']"
            " FROM mailqueue.projects AS p, generate_series(1, 999) AS n WHERE p.name = 'shop'"
        )
        async with first.transaction():
            await issue_key(first, "shop", "last", is_test=True)
            adding = asyncio.create_task(issue_key(second, "shop", "one more", is_test=True))

            async def waits() -> bool:
                return adding.done() or bool(await make.scalar(conn, WAITS))

            await until(waits)
        with pytest.raises(InvalidField, match="has 1000 valid keys"):
            await adding
