"""Presses that are forged, old, of others or of what is gone have no effect."""

from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import orjson
import pytest
from slack_sdk.signature import Clock, SignatureVerifier

from mailqueue.adapters.channels.slack.interactions import MAX_BYTES, is_signed, press_of
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.channel import ButtonPress
from tests.api.support.calling import Calling
from tests.rows import each_row
from tests.watch.buttons.pressing import (
    KEY,
    OTHER,
    PATH,
    SECRET,
    STAMP,
    muted,
    pause_end,
    payload,
    pressed,
    told,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("age", [0, 299, -299, 301, -301, 100_000])
@pytest.mark.parametrize("secret", [SECRET, OTHER])
def test_signatures_are_judged_as_by_the_official_library(age: int, secret: str) -> None:
    body, now = b"payload=%7B%7D", 1_767_323_045
    stamp = str(now - age)
    verifier = SignatureVerifier(SECRET, _At(now))
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    headers = {"x-slack-request-timestamp": stamp, "x-slack-signature": signature or ""}

    assert is_signed(Secret(SECRET), headers, body, now=now) is verifier.is_valid(
        body, stamp, signature or ""
    )


class _At(Clock):
    """The clock of the official verifier."""

    def __init__(self, now: float) -> None:
        self._now = now

    def now(self) -> float:
        return self._now


def test_the_documented_example_has_the_documented_signature() -> None:
    # https://docs.slack.dev/authentication/verifying-requests-from-slack
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
        b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
        b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
        b"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    headers = {"x-slack-request-timestamp": "1531420618", "x-slack-signature": signature}

    assert is_signed(Secret(SECRET), headers, body, now=1531420618)


@pytest.mark.parametrize(
    "other",
    [
        {"team": {"id": "T02"}},
        {"team": None},
        {"user": {"id": "U02"}},
        {"container": {"message_ts": "1767323045.000002", "channel_id": "D01"}},
        {"container": {"channel_id": "D01"}},
    ],
    ids=["workspace", "no workspace", "person", "message", "no message"],
)
async def test_a_press_of_another_workspace_person_or_message_is_refused(
    api: Calling, conn: Conn, other: dict[str, Any]
) -> None:
    ann = await told(conn)
    for action in ("mute_sender", "pause_hour"):
        answer = await pressed(api, payload(ann.notification_id, action, **other))
        assert answer.status_code == 403
    assert await muted(conn) == []
    assert await pause_end(conn) is None


async def test_members_of_the_channel_of_a_notification_may_press_and_no_others(
    api: Calling, conn: Conn
) -> None:
    ann = await told(conn, place="C01")
    there = {"message_ts": STAMP, "channel_id": "C01"}
    document = payload(ann.notification_id, user={"id": "U77"})
    assert (await pressed(api, document)).status_code == 403
    assert (await pressed(api, document | {"container": there})).status_code == 200
    assert await muted(conn) == ["bob@example.com"]


async def test_a_secret_signs_for_channels_of_its_own_app_alone(api: Calling, conn: Conn) -> None:
    installed, own = await told(conn), await told(conn, own_secret=OTHER)
    assert (await pressed(api, payload(installed.notification_id), secret=OTHER)).status_code == 401
    # Of the app of the installation, but not of this channel's: without effect.
    assert (await pressed(api, payload(own.notification_id), secret=SECRET)).status_code == 200
    assert (await pressed(api, payload(uuid4()), secret=OTHER)).status_code == 401
    assert await muted(conn) == []
    assert (await pressed(api, payload(own.notification_id), secret=OTHER)).status_code == 200
    assert await muted(conn) == ["bob@example.com"]


async def test_presses_of_what_is_gone_or_unknown_have_no_effect(api: Calling, conn: Conn) -> None:
    ann = await told(conn)
    for action in ("open", "", "mute", "x" * 5000, "pause_hour\u0000"):
        assert (await pressed(api, payload(ann.notification_id, action))).status_code == 200
    assert (await pressed(api, payload(uuid4()))).status_code == 200
    assert (await pressed(api, {"type": "view_submission"})).status_code == 200
    await conn.execute("UPDATE mailqueue.notifications SET sender_address = ''")
    assert (await pressed(api, payload(ann.notification_id))).status_code == 200
    removed = await api.delete(f"/v1/channels/{ann.channel_id}")
    assert removed.status_code == 204
    assert (await pressed(api, payload(ann.notification_id, "pause_hour"))).status_code == 200

    assert await muted(conn) == []
    assert await pause_end(conn) is None


@pytest.mark.parametrize("age", [301, -301])
async def test_old_or_wrongly_signed_requests_are_refused(
    api: Calling, conn: Conn, age: int
) -> None:
    document = payload((await told(conn)).notification_id)
    assert (await pressed(api, document, age=age)).status_code == 401
    assert (await pressed(api, document, secret=OTHER)).status_code == 401
    assert (await api.http.post(PATH, content=b"payload=%7B%7D")).status_code == 401
    assert (await pressed(api, None, body=b"x" * (MAX_BYTES + 1))).status_code == 413
    assert await muted(conn) == []


@each_row(
    "body",
    [
        b"",
        b"payload=%ff",
        b"payload",
        b"payload=" + b"[" * 5000,
        b"payload=null",
        b"payload=%5B%5D",
        b"payload=%7B%22type%22%3A%22block_actions%22%2C%22actions%22%3A%5B%5D%7D",
        b"&".join(b"a=%d" % n for n in range(50)),
    ],
)
async def test_any_signed_body_is_answered(api: Calling, body: bytes) -> None:
    assert (await pressed(api, None, body=body)).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("user", "U01"),
        ("user", {"id": ["U01"]}),
        ("user", {"id": "U01' OR"}),
        ("actions", [{"value": KEY, "action_id": 1, "action_ts": "1.0"}]),
        ("actions", [{"value": KEY, "action_id": "x", "action_ts": "NaN"}]),
        ("actions", [{"value": KEY, "action_id": "x", "action_ts": 7}]),
        ("actions", [{"value": "7", "action_id": "x", "action_ts": "1.0"}]),
        ("actions", {}),
        ("type", "message_action"),
    ],
)
def test_a_press_with_other_fields_is_none(name: str, value: Any) -> None:
    document = payload(KEY) | {name: value}
    assert press_of(urlencode({"payload": orjson.dumps(document).decode()}).encode()) is None


def test_the_fields_of_a_press_that_slack_leaves_out_or_forges_are_none() -> None:
    document = payload(KEY, team=7, container=[], message={"ts": "x"}, response_url="https://[::1")
    found = press_of(urlencode({"payload": orjson.dumps(document).decode()}).encode())

    assert isinstance(found, ButtonPress)
    assert (found.workspace, found.place, found.message, found.reply_url) == (None,) * 4
