"""What a button does: for its person alone, once, and until it is taken back."""

import time
from typing import Any
from uuid import uuid4

import pytest
from slack_sdk.models.blocks import Block

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import notifications
from tests import make
from tests.adapters.sending.fake import fake, says
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER
from tests.watch import watching
from tests.watch.buttons.pressing import (
    KEY,
    OTHER,
    SECRET,
    muted,
    pause_end,
    payload,
    pressed,
    told,
)
from tests.watch.fake_slack import fake_slack
from tests.webhooks.delivering import LOOPBACK

pytestmark = pytest.mark.anyio

TWELVE = """
    SELECT mailqueue.record_scan(%s, 1, '{}', (SELECT jsonb_agg(jsonb_build_object(
        'key', gen_random_uuid(), 'subject', n, 'sender_name', '', 'preview', '',
        'received_at', now(), 'sender_address',
        CASE WHEN n <= %s THEN 'bob@example.com' ELSE 'ann@example.com' END))
        FROM generate_series(1, 12) AS n))
"""


async def test_a_press_mutes_the_sender_for_its_person_alone(api: Calling, conn: Conn) -> None:
    ann, other = await told(conn), await told(conn, place="U02")
    for one in (ann, other):
        await watching.queued(conn, one.owner, one.inbox_id, one.channel_id, 2)
    answer = await pressed(api, payload(ann.notification_id))

    assert (answer.status_code, answer.content) == (200, b"")
    assert await muted(conn) == ["bob@example.com"]
    query = (
        "SELECT user_id = %s, status, last_error FROM mailqueue.notifications WHERE status <> %s"
    )
    assert sorted(await make.rows(conn, query, ann.owner, "delivered")) == [
        (False, "pending", None),
        (True, "failed", "its sender was muted"),
    ]
    why = "SELECT mailqueue.notification_wait(id) FROM mailqueue.notifications WHERE status = %s"
    assert await make.rows(conn, why, "pending") == [(None,)]


async def test_a_summary_that_waits_names_no_sender_that_was_muted_meanwhile(
    api: Calling, conn: Conn
) -> None:
    mixed, alone = await told(conn), await told(conn)
    for one, bobs in ((mixed, 11), (alone, 12)):
        mailbox = "UPDATE mailqueue.mailboxes SET status = 'assigned', claim_no = 1 WHERE id = %s"
        await conn.execute(mailbox, (one.inbox_id,))
        assert await make.scalar(conn, TWELVE, one.inbox_id, bobs) == 12
        assert (await pressed(api, payload(one.notification_id))).status_code == 200

    waiting = (
        "SELECT s.user_id, m.sender_address FROM mailqueue.notifications AS s"
        " JOIN mailqueue.notifications AS m ON m.summary_id = s.id WHERE s.status = 'pending'"
    )
    assert await make.rows(conn, waiting) == [(mixed.owner, "ann@example.com")]
    ended = (
        "SELECT kind, last_error, count(*) FROM mailqueue.notifications WHERE status = 'failed'"
        " AND user_id = %s GROUP BY 1, 2 ORDER BY 1"
    )
    muted_mail = ("mail", "its sender was muted")
    assert await make.rows(conn, ended, mixed.owner) == [(*muted_mail, 11)]
    none_left = ("summary", "the senders of its mail were muted", 1)
    assert await make.rows(conn, ended, alone.owner) == [(*muted_mail, 12), none_left]
    project_id = await make.project_named(conn)
    query = "SELECT id FROM mailqueue.notifications WHERE status = 'failed' AND kind = 'summary'"
    empty = await make.scalar(conn, query)
    assert not (await notifications.retry(conn, project_id, [empty], by="tests")).notifications


async def test_a_muted_sender_is_not_reported_whatever_the_rules_are(
    api: Calling, conn: Conn
) -> None:
    ann = await told(conn)
    assert (await pressed(api, payload(ann.notification_id))).status_code == 200
    await watching.record(conn, ann.inbox_id, KEY, "From Ann")
    query = "UPDATE mailqueue.muted_senders SET sender_address = 'ann@example.com'"
    await conn.execute(query)
    await watching.record(conn, ann.inbox_id, str(uuid4()), "From Ann, muted")

    assert [one[0] for one in await watching.log(conn)] == ["Mail 1", "From Ann"]
    (row,) = (await api.get("/v1/muted-senders")).json()["data"]
    assert (await api.delete(f"/v1/muted-senders/{row['id']}")).status_code == 204
    await watching.record(conn, ann.inbox_id, str(uuid4()), "From Ann again")
    assert [one[0] for one in await watching.log(conn)][-1] == "From Ann again"


async def test_a_pause_of_an_hour_holds_back_what_waits_and_ends_by_itself(
    api: Calling, conn: Conn
) -> None:
    ann = await told(conn)
    waits = await watching.queued(conn, ann.owner, ann.inbox_id, ann.channel_id, 2)
    now = time.time()
    answer = await pressed(api, payload(ann.notification_id, "pause_hour", at=now))
    assert answer.status_code == 200
    assert abs((await pause_end(conn)).timestamp() - now - 3600) < 1
    ready = "SELECT count(*) FROM mailqueue.ready_notifications(clock_timestamp())"
    assert await make.scalar(conn, ready) == 0
    why = await make.scalar(conn, "SELECT mailqueue.notification_wait(%s)", waits)
    assert why.startswith("all notifications of its inbox user are paused until ")
    await watching.record(conn, ann.inbox_id, KEY, "Meanwhile")
    assert len(await watching.log(conn)) == 2, "mail of the pause is not reported later"
    shown = (await api.get(f"/v1/inbox-users/{ann.owner}")).json()
    assert shown["notifications_paused"] is False
    assert shown["paused_until"] is not None

    await conn.execute("UPDATE mailqueue.inbox_users SET paused_until = now()")
    assert await make.scalar(conn, ready) == 1


async def test_a_repeated_press_changes_nothing_after_its_effect_was_undone(
    api: Calling, conn: Conn
) -> None:
    ann = await told(conn)
    documents = [payload(ann.notification_id, name) for name in ("mute_sender", "pause_hour")]
    for document in documents:
        assert (await pressed(api, document)).status_code == 200
    (row,) = (await api.get("/v1/muted-senders")).json()["data"]
    await api.delete(f"/v1/muted-senders/{row['id']}")
    resumed = await api.put(f"/v1/inbox-users/{ann.owner}", {"notifications_paused": False})
    assert resumed.json()["paused_until"] is None
    for document in documents:
        assert (await pressed(api, document)).status_code == 200

    assert await muted(conn) == []
    assert await pause_end(conn) is None
    query = "SELECT action FROM mailqueue.audit_events WHERE actor LIKE '%(slack U01)' ORDER BY id"
    assert await make.rows(conn, query) == [("sender.muted",), ("inbox_user.paused",)]


async def test_the_person_alone_reads_what_a_press_did(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        ann = await told(conn)
    answers: list[Any] = []

    def answer(request: Any) -> Any:
        answers.append(request.json)
        return says(200, {"ok": True})

    async with fake([answer]) as slack:
        options = {
            "slack_url": f"http://127.0.0.1:{slack.port}/api",
            "slack_signing_secret": Secret(SECRET),
            "allowed_hosts": LOOPBACK.allowed_networks,
        }
        async with calling(database, master_key=Secret(MASTER), **options) as api:
            url = f"http://127.0.0.1:{slack.port}/actions/1"
            document = payload(ann.notification_id, response_url=url)
            assert (await pressed(api, document)).status_code == 200
            forged = f"http://127.0.0.1:{slack.port + 1}/"
            document = payload(ann.notification_id, "pause_hour", response_url=forged)
            assert (await pressed(api, document)).status_code == 200

    (one,) = answers
    assert one["response_type"] == "ephemeral"
    assert one["text"] == "Mail from bob@example.com is not reported any more."


@pytest.mark.parametrize(
    ("is_of_app", "own", "has_setting", "names"),
    [
        (True, None, True, ["mute_sender", "pause_hour"]),
        (True, None, False, []),
        (False, None, True, []),
        (False, OTHER, False, ["mute_sender", "pause_hour"]),
    ],
)
async def test_messages_have_buttons_where_presses_can_be_verified(
    database: DatabaseSettings,
    is_of_app: bool,
    own: str | None,
    has_setting: bool,
    names: list[str],
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        owner = await watching.user(conn)
        channel_id = await watching.channel(conn, owner, signing_secret=own)
        await conn.execute(
            "UPDATE mailqueue.notification_channels SET is_of_app = %s", (is_of_app,)
        )
        inbox_id = await watching.inbox(conn, owner, 1)
        one = await watching.queued(conn, owner, inbox_id, channel_id, 1)
        async with watching.delivering(database, slack.port, has_signing_secret=has_setting):

            async def is_delivered() -> bool:
                return await watching.log(conn) == [("Mail 1", "delivered")]

            await watching.wait(is_delivered, "the notification")

    blocks = slack.messages[0]["blocks"]
    for block in blocks:  # the models of the official library take it
        Block.parse(block).validate_json()  # type: ignore[union-attr]
    buttons = [each for block in blocks if block["type"] == "actions" for each in block["elements"]]
    assert [each["action_id"] for each in buttons] == names
    assert {each["value"] for each in buttons} <= {str(one)}
