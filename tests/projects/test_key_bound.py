"""The bound of a project's API keys holds however many are created at once."""

import asyncio
from datetime import timedelta

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import id_of_key, issue_key, rotate_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.webhooks.delivering import until

pytestmark = pytest.mark.anyio
WAITS = """
    SELECT count(*) > 0 FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
"""

KEYS = """
    INSERT INTO mailqueue.api_keys (project_id, name, key_hash, hint, is_test, scopes)
    SELECT p.id, 'key ' || n, sha256(n::text::bytea), 'mq_test_x', true, ARRAY['project:read']
      FROM mailqueue.projects AS p, generate_series(1, %s) AS n WHERE p.name = 'shop'
"""
VALID = """
    SELECT count(*) FROM mailqueue.api_keys AS k JOIN mailqueue.projects AS p ON p.id = k.project_id
     WHERE p.name = 'shop' AND k.revoked_at IS NULL
       AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
"""


async def test_rotations_make_no_more_valid_keys_than_a_project_may_have(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project(conn, "shop")
        await conn.execute(KEYS, (999,))

        first = await rotate_key(conn, project, await id_of_key(conn, project, "key 1"))
        with pytest.raises(InvalidField, match="rotate without a grace period") as refused:
            await rotate_key(conn, project, first.record.id)
        with pytest.raises(InvalidField, match="has 1000 valid keys"):
            await issue_key(conn, "shop", "one more", is_test=True)
        second = await rotate_key(conn, project, first.record.id, grace=timedelta(0))

        assert refused.value.field == "grace"
        assert await make.scalar(conn, VALID) == 1000
        assert second.record.id != first.record.id


async def test_two_at_once_are_not_both_the_last_key_of_a_project(
    database: DatabaseSettings,
) -> None:
    async with (
        connect(database) as conn,
        connect(database) as first,
        connect(database) as second,
    ):
        await make.project(conn, "shop")
        await conn.execute(KEYS, (999,))
        async with first.transaction():
            await issue_key(first, "shop", "last", is_test=True)
            adding = asyncio.create_task(issue_key(second, "shop", "one more", is_test=True))

            async def waits() -> bool:
                return adding.done() or bool(await make.scalar(conn, WAITS))

            await until(waits)
        with pytest.raises(InvalidField, match="has 1000 valid keys"):
            await adding
