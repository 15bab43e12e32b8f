"""Thresholds of bounce and complaint rates, and the deletion of old rates."""

import base64
from pathlib import Path

import pytest

from mailqueue.core.retained import RETAINED
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.inbound.model import NewRequest
from mailqueue.inbound.store import keep
from mailqueue.maintenance.store import tasks as maintenance
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import calling
from tests.cli.support.invoked import Cli

RELAY = ("sender", "add", "--name", "relay", "--host", "mx.example.com", "--tls", "none")


def test_thresholds_are_shown_and_set(module_db: str, tmp_path: Path) -> None:
    cli = Cli(module_db, tmp_path)
    assert cli(*RELAY).exit_code == 0

    shown = cli.json("sender", "rates", "relay")
    assert (shown["bounce_warn"], shown["bounce_pause"]) == (2, 5)
    assert (shown["complaint_warn"], shown["complaint_pause"]) == (0.1, 0.3)
    assert (shown["sent"], shown["state"]) == (0, "ok")
    assert cli.json("sender", "rates", "relay", "--bounce-pause", "8")["bounce_pause"] == 8
    assert cli.json("sender", "rates", "relay", "--bounce-pause", "0")["bounce_pause"] == 0
    for refused in (("--bounce-pause", "101"), ("--complaint-warn", "0.4")):
        assert cli("sender", "rates", "relay", *refused).exit_code != 0
    assert cli("sender", "rates", "--bounce-warn", "1").exit_code != 0
    assert "relay" in cli("sender", "rates").output


@pytest.mark.anyio
async def test_the_api_sets_thresholds_and_makes_webhooks(fresh_db: str) -> None:
    database = DatabaseSettings(Secret(fresh_db))
    key = Secret(base64.b64encode(bytes(range(32))).decode())
    async with calling(database, master_key=key) as api, connect(database) as conn:
        project = await make.project_named(conn)
        account = await make.scalar(
            conn, "SELECT id FROM mailqueue.sender_accounts WHERE name = 'relay'"
        )
        await conn.execute("UPDATE mailqueue.api_keys SET scopes = '{project:read,project:write}'")
        one = f"/v1/projects/{project}/smtp-configs/{account}"

        changed = await api.put(f"{one}/rates", {"complaint_pause": 1})
        assert changed.json()["complaint_pause"] == 1
        assert (await api.get(f"{one}/rates")).json()["complaint_pause"] == 1
        assert (await api.put(f"{one}/rates", {"bounce_pause": 200})).status_code == 422

        given = {"provider": "mailgun", "signing": ["key-1"]}
        made = (await api.put(f"{one}/webhook", given)).json()
        assert made["has_signing_secret"]
        assert "key-1" not in str(made)
        shown = (await api.get(f"{one}/webhook?provider=mailgun")).json()
        assert shown == made
        rotated = (await api.put(f"{one}/webhook", {"provider": "mailgun", "rotate": True})).json()
        assert rotated["url"] != made["url"]
        assert (await api.delete(f"{one}/webhook?provider=mailgun")).status_code == 204
        assert (await api.get(f"{one}/webhook?provider=mailgun")).status_code == 404
        assert (await api.put(f"{one}/webhook", {"provider": "nobody"})).status_code == 422


@pytest.mark.anyio
async def test_old_keys_and_requests_are_forgotten_and_what_waits_is_not(conn: Conn) -> None:
    await keep(conn, [NewRequest("ses", b"1"), NewRequest("ses", b"2"), NewRequest("ses", b"3")])
    await conn.execute(
        "UPDATE mailqueue.inbound_events SET received_at = now() - interval '31 days',"
        " status = 'processed', finished_at = now() WHERE body = '1'"
    )
    await conn.execute(
        "UPDATE mailqueue.inbound_events SET received_at = now() - interval '31 days'"
        " WHERE body = '2'"
    )
    await conn.execute(
        "INSERT INTO mailqueue.event_keys (key, recorded_on) VALUES"
        " (gen_random_uuid(), current_date - 401), (gen_random_uuid(), current_date - 399)"
    )

    kinds = {one.kind: one for one in RETAINED}
    assert await maintenance.sweep_retained(conn, kinds["inbound_events"]) == 1
    assert await maintenance.sweep_retained(conn, kinds["event_keys"]) == 1
    assert await maintenance.sweep_retained(conn, kinds["event_keys"]) == 0
    left = await make.rows(conn, "SELECT body FROM mailqueue.inbound_events ORDER BY id")
    assert left == [(b"2",), (b"3",)]
