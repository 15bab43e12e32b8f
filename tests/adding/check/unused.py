"""API keys that nothing has used for half a year are named with the command that revokes them."""

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.operations.doctor.checks import examine
from mailqueue.operations.doctor.context import CheckContext
from mailqueue.settings.environment import load_settings
from mailqueue.wiring.files import attachment_storage
from tests import make

pytestmark = pytest.mark.anyio

FOUND = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'unused keys'"


async def test_a_key_is_named_once_it_is_unused_for_half_a_year(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.api_keys (project_id, name, key_hash, hint, is_test)"
        " SELECT p.id, 'old key', sha256('k'), 'mq', true FROM mailqueue.projects AS p"
        " WHERE p.name = 'default'"
    )
    assert (await make.rows(conn, FOUND))[0][0] == "ok"

    await conn.execute("UPDATE mailqueue.api_keys SET created_at = now() - interval '181 days'")
    [(state, found, fix)] = await make.rows(conn, FOUND)
    settings = load_settings(database_url=Secret("postgresql://example.com/mailqueue"))
    storage = attachment_storage(settings.attachments)
    findings = await examine(CheckContext(settings, conn, lambda: None, storage))

    assert (state, found) == ("warning", "not used for half a year: old key of default")
    assert fix == "mailqueue key revoke 'old key' --project default"
    assert [one.says for one in findings if one.check == "unused keys"] == [found]
