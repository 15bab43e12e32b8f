"""Requests that Twilio did not sign change nothing, and credentials are sealed."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.watch import watching
from tests.watch.fake_twilio import FakeTwilio, fake_twilio
from tests.watch.texting import (
    STATES,
    listening,
    prepared,
    reply,
    report,
    report_path,
    signed,
    tell,
    until_state,
)
from tests.watch.watching import AUTH_TOKEN, PHONE

pytestmark = pytest.mark.anyio


async def sent(database: DatabaseSettings, twilio: FakeTwilio, conn: Conn) -> UUID:
    (one,) = await prepared(conn)
    async with watching.texting(database, twilio.port):
        await until_state(conn, one, "sent")
    return one


async def test_requests_that_twilio_did_not_sign_for_this_change_nothing(
    database: DatabaseSettings,
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        one = await sent(database, twilio, conn)
        path, fields = await report_path(conn, one), report("delivered")
        other = await make.project(conn, "news")
        replies = f"/channels/whatsapp/{await make.project_named(conn)}"
        theirs = f"/channels/whatsapp/{other}"
        eve = await watching.user(conn, "eve@example.com", project="news")
        await watching.phone(conn, eve, number="+15550000003", project="news")
        unknown = path[:-12] + "000000000000"
        for there, given, signature in (
            (path, fields, ""),
            (path, fields, "x"),
            (path, fields, "\xff"),
            (path, fields, signed(path, report("sent"))),
            (path, fields, signed(path, fields, "another0account00token")),
            (path, fields, signed(replies, fields)),
            (f"{theirs}/{one}", fields, None),
            (unknown, fields, None),
            (replies, reply("STOP", 1), signed(path, reply("STOP", 1))),
            (replies, reply("STOP", 1), ""),
            (theirs, reply("STOP", 1), None),
            (replies, reply("STOP", 1, From="whatsapp:+15550000009"), None),
            (replies, reply("STOP", 1, To="whatsapp:+15550000009"), None),
            (replies, reply("STOP", 1, AccountSid="AC" + "f" * 32), None),
            (replies, reply("STOP", 1, From=f"whatsapp:{PHONE}' OR ''='"), None),
            (replies, reply("STOP", 1, AccountSid="AC\0"), None),
            (replies, {"Body": "STOP"}, None),
        ):
            assert await tell(api, there, given, signature) == 401, (there, given)
        assert await tell(api, "/channels/whatsapp/x", fields) == 404
        assert await tell(api, f"{replies}/x", fields) == 404
        headers = {
            "X-Twilio-Signature": "x",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        for body, status in ((b"a=" + b"x" * 70_000, 413), (b"a=%FF", 401), (b"\xff\xfe", 401)):
            answer = await api.http.post(path, content=body, headers=headers)
            assert answer.status_code == status

        assert await make.rows(conn, STATES) == [("sent",)]
        query = "SELECT DISTINCT status FROM mailqueue.notification_channels"
        assert await make.rows(conn, query) == [("active",)]


async def test_credentials_are_sealed_and_in_no_column(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await prepared(conn)
        for table in ("notification_channels", "channel_consents", "audit_events"):
            query = f"SELECT string_agg(o::text, '') FROM mailqueue.{table} AS o"
            found = await make.scalar(conn, query)
            assert AUTH_TOKEN not in found
            assert AUTH_TOKEN.encode().hex() not in found
