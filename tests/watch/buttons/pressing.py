"""Persons in Slack who press buttons, and the requests that Slack sends."""

import time
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import orjson
from slack_sdk.signature import SignatureVerifier

from mailqueue.db.fetch import Conn
from mailqueue.watch import muting
from tests import make
from tests.api.support.calling import Calling
from tests.watch import watching

PATH = "/channels/slack/actions"
SECRET, OTHER = "8f742231b10e8888abcd99yyyzzz85a5", "11111111111111111111111111111111"
STAMP = "1767323045.000001"
KEY = "0197b8f0-0000-7000-8000-0000000000d1"


class Told:
    """A person in Slack who was notified of a mail of bob@example.com."""

    owner: UUID
    inbox_id: UUID
    channel_id: UUID
    notification_id: UUID


async def told(conn: Conn, *, place: str = "U01", own_secret: str | None = None) -> Told:
    """Notify a person by the installed app, or by one with a secret of its own."""
    one = Told()
    one.owner = await watching.user(conn, f"{uuid4()}@example.com")
    one.channel_id = await watching.channel(
        conn, one.owner, slack=place, workspace="T01", signing_secret=own_secret
    )
    if own_secret is None:
        await conn.execute(
            "UPDATE mailqueue.notification_channels SET is_of_app = true WHERE id = %s",
            (one.channel_id,),
        )
    one.inbox_id = await watching.inbox(conn, one.owner, 1)
    one.notification_id = await watching.queued(conn, one.owner, one.inbox_id, one.channel_id, 1)
    await conn.execute(
        "UPDATE mailqueue.notifications SET status = 'delivered', external_message_id = %s"
        " WHERE id = %s",
        (STAMP, one.notification_id),
    )
    return one


def payload(
    reference: object, action: str = "mute_sender", *, at: float | None = None, **other: Any
) -> dict[str, Any]:
    """Return what Slack sends for a button, as documented."""
    stamp = f"{time.time() if at is None else at:.6f}"
    pressed = {
        "type": "button",
        "action_id": action,
        "block_id": "1",
        "value": str(reference),
        "action_ts": stamp,
    }
    return {
        "type": "block_actions",
        "team": {"id": "T01", "domain": "example"},
        "user": {"id": "U01", "team_id": "T01"},
        "container": {"type": "message", "message_ts": STAMP, "channel_id": "D01"},
        "actions": [pressed],
        **other,
    }


async def pressed(
    api: Calling,
    document: Any,
    *,
    secret: str = SECRET,
    age: int = 0,
    body: bytes | None = None,
) -> Any:
    """Return the answer to a request that the official library signed."""
    if body is None:
        body = urlencode({"payload": orjson.dumps(document).decode()}).encode()
    stamp = str(int(time.time()) - age)
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature or "",
    }
    return await api.http.post(PATH, content=body, headers=headers)


async def muted(conn: Conn) -> list[str]:
    project_id = await make.project_named(conn)
    return [one.sender_address for one in await muting.list_page(conn, project_id, limit=9)]


async def pause_end(conn: Conn) -> Any:
    return await make.scalar(conn, "SELECT max(paused_until) FROM mailqueue.inbox_users")
