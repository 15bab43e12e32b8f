"""Inbox users, inboxes, channels, rules and notifications over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER
from tests.rows import each_row
from tests.watch.watching import TOKEN

pytestmark = pytest.mark.anyio


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    async with calling(database, master_key=Secret(MASTER)) as made:
        yield made


USERS, INBOXES, CHANNELS = "/v1/inbox-users", "/v1/inboxes", "/v1/channels"
RULES, NOTIFICATIONS = "/v1/filter-rules", "/v1/notifications"
MUTED = "/v1/muted-senders"
SECRET = "correct horse"


async def user(api: Calling, email: str = "Ann@Example.com") -> str:
    return str((await api.post(USERS, {"email": email})).json()["id"])


@pytest.fixture
async def owner(api: Calling) -> str:
    return await user(api)


def new_inbox(owner: str, **fields: Any) -> dict[str, Any]:
    return {
        "user_id": owner,
        "email_address": "ann@example.com",
        "host": "imap.example.com",
        "password": SECRET,
        **fields,
    }


async def test_a_user_is_added_paused_listed_and_removed_with_everything(api: Calling) -> None:
    added = await api.post(USERS, {"email": "Ann@Example.com"})
    assert added.status_code == 201, added.text
    one = f"{USERS}/{added.json()['id']}"
    assert added.json()["email"] == "ann@example.com"
    assert (await api.post(USERS, {"email": "ann@example.com"})).status_code == 409
    paused = await api.put(one, {"notifications_paused": True})
    assert paused.json()["notifications_paused"] is True
    assert (await api.get(USERS)).json()["data"] == [paused.json()]
    await api.post(INBOXES, new_inbox(added.json()["id"]))
    await api.post(RULES, {"user_id": added.json()["id"], "rule_type": "sender", "pattern": "x.y"})

    assert (await api.delete(one)).status_code == 204
    assert (await api.get(one)).status_code == 404
    assert (await api.get(INBOXES)).json()["data"] == []
    assert (await api.get(RULES)).json()["data"] == []


async def test_a_sender_is_muted_listed_and_unmuted(api: Calling) -> None:
    owner = await user(api)
    body = {"user_id": owner, "sender_address": "Shop@Example.com"}
    added = await api.post(MUTED, body)
    assert added.status_code == 201, added.text
    assert added.json()["sender_address"] == "shop@example.com"
    assert (await api.post(MUTED, body)).status_code == 409
    assert "sender_address" in (await api.post(MUTED, body | {"sender_address": "shop"})).text
    assert (await api.post(MUTED, body | {"user_id": added.json()["id"]})).status_code == 422
    one = f"{MUTED}/{added.json()['id']}"
    assert (await api.get(one)).json() == added.json()
    assert (await api.get(f"{MUTED}?user_id={owner}")).json()["data"] == [added.json()]
    assert (await api.delete(one)).status_code == 204
    assert (await api.delete(one)).status_code == 404


async def test_an_inbox_is_watched_paused_resumed_reconnected_and_removed(api: Calling) -> None:
    owner = await user(api)
    added = await api.post(INBOXES, new_inbox(owner))
    assert added.status_code == 201, added.text
    found = added.json()
    assert (found["status"], found["folders"], found["username"]) == (
        "active",
        ["INBOX"],
        "ann@example.com",
    )
    assert SECRET not in added.text
    assert (await api.post(INBOXES, new_inbox(owner))).status_code == 409
    one = f"{INBOXES}/{found['id']}"
    assert (await api.post(f"{one}/pause", {})).json()["status"] == "paused"
    assert (await api.post(f"{one}/resume", {})).json()["status"] == "active"
    assert (await api.post(f"{one}/scan", {})).json()["next_scan_at"] is not None
    async with connect(api.database) as conn:
        await conn.execute("UPDATE mailqueue.mailboxes SET status = 'failed', finished_at = now()")
    assert (await api.get(one)).json()["status"] == "error"
    assert (await api.post(f"{one}/resume", {})).status_code == 409
    again = await api.post(f"{one}/reconnect", {"password": "another"})
    assert (again.json()["status"], again.json()["next_scan_at"] is None) == ("active", False)
    assert (await api.delete(one)).status_code == 204
    assert (await api.get(one)).status_code == 404


@each_row(
    "fields, field",
    [
        ({"host": "127.0.0.1"}, "host"),
        ({"host": "exa mple"}, "host"),
        ({"folders": ["INBOX", "Sent Items"]}, "folders"),
        ({"folders": ["INBOX.Trash"]}, "folders"),
        ({"scan_seconds": 1}, "scan_seconds"),
        ({"webmail_url": "http://mail.example.com"}, "webmail_url"),
        ({"webmail_url": "https://x|y>"}, "webmail_url"),
        ({"email_address": "no address"}, "email_address"),
        ({"user_id": "0197b8f0-0000-7000-8000-000000000001"}, "user_id"),
        ({"tls": "maybe"}, "tls"),
    ],
)
async def test_an_invalid_inbox_is_refused_with_the_field(
    api: Calling, owner: str, fields: dict[str, Any], field: str
) -> None:
    refused = await api.post(INBOXES, new_inbox(owner, **fields))

    assert refused.status_code == 422, refused.text
    assert field in refused.text


async def test_a_channel_is_connected_once_and_stays_listed_when_it_is_disconnected(
    api: Calling,
) -> None:
    owner = await user(api)
    body = {"user_id": owner, "bot_token": TOKEN, "slack_channel_id": "C0123456789"}
    added = await api.post(CHANNELS, body)
    assert added.status_code == 201, added.text
    assert TOKEN not in added.text
    assert (await api.post(CHANNELS, body)).status_code == 409
    one = f"{CHANNELS}/{added.json()['id']}"
    moved = await api.post(f"{one}/reconnect", {"bot_token": TOKEN, "slack_channel_id": "C9"})
    assert (moved.json()["slack_channel_id"], moved.json()["status"]) == ("C9", "active")
    assert (await api.delete(one)).status_code == 204
    assert (await api.get(one)).json()["status"] == "disconnected"
    assert (await api.delete(one)).status_code == 404
    assert (await api.post(CHANNELS, body)).status_code == 201


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"bot_token": "xoxp-0000000000-user"}, "bot_token"),
        ({"slack_channel_id": "#general"}, "slack_channel_id"),
        ({"workspace": "nowhere"}, "workspace"),
    ],
)
async def test_an_invalid_channel_is_refused_with_the_field(
    api: Calling, fields: dict[str, Any], field: str
) -> None:
    body = {"user_id": await user(api), "bot_token": TOKEN, "slack_channel_id": "C1"}
    refused = await api.post(CHANNELS, {**body, **fields})

    assert refused.status_code == 422, refused.text
    assert field in refused.text


async def test_a_rule_is_tried_added_changed_and_removed(api: Calling) -> None:
    sample = {"rule_type": "subject", "pattern": "Rechnung", "subject": "Ihre RECHNUNG Nr. 81"}
    assert (await api.post(f"{RULES}/try", sample)).json() == {"is_match": True}
    other = {**sample, "subject": "Abrechnung"}
    assert (await api.post(f"{RULES}/try", other)).json() == {"is_match": False}
    body = {"user_id": await user(api), "rule_type": "subject", "pattern": " Rechnung "}
    added = await api.post(RULES, body)
    assert added.status_code == 201, added.text
    assert (added.json()["pattern"], added.json()["is_active"]) == ("Rechnung", True)
    one = f"{RULES}/{added.json()['id']}"
    changed = await api.put(one, {"is_active": False, "priority": 5})
    assert (changed.json()["is_active"], changed.json()["priority"]) == (False, 5)
    bad = await api.put(one, {"rule_type": "sender", "pattern": "not an address@"})
    assert bad.status_code == 422
    assert "pattern" in bad.text
    assert (await api.delete(one)).status_code == 204
    assert (await api.get(one)).status_code == 404


async def test_notifications_are_listed_by_state_page_by_page_and_retried(api: Calling) -> None:
    owner = await user(api)
    await api.post(INBOXES, new_inbox(owner))
    body = {"user_id": owner, "bot_token": TOKEN, "slack_channel_id": "C0123456789"}
    await api.post(CHANNELS, body)
    async with connect(api.database) as conn:
        await conn.execute(
            "INSERT INTO mailqueue.notifications (project_id, user_id, email_account_id,"
            " notification_channel_id, subject, email_received_at, status, finished_at)"
            " SELECT m.project_id, m.user_id, m.id, c.id, 'Mail ' || n, now(), 'failed', now()"
            " FROM mailqueue.mailboxes AS m, mailqueue.notification_channels AS c,"
            " generate_series(1, 3) AS n"
        )
    first = (await api.get(f"{NOTIFICATIONS}?limit=2&delivery_status=failed")).json()
    rest = (
        await api.get(
            f"{NOTIFICATIONS}?limit=2&delivery_status=failed&cursor={first['next_cursor']}"
        )
    ).json()
    found = [*first["data"], *rest["data"]]
    assert sorted(one["subject"] for one in found) == ["Mail 1", "Mail 2", "Mail 3"]
    assert rest["next_cursor"] is None
    ids = [one["id"] for one in found[:2]]
    retried = await api.post(f"{NOTIFICATIONS}/retry", {"ids": ids})
    assert retried.json() == {"notifications": 2}
    assert (await api.get(f"{NOTIFICATIONS}/{ids[0]}")).json()["delivery_status"] == "pending"
    async with connect(api.database) as conn:
        assert (
            await make.scalar(
                conn,
                "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'notification.retried'",
            )
            == 1
        )
