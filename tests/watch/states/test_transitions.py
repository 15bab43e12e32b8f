"""The documented transitions are all there are: each has a cause and the functions it names."""

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import channels, muting, whatsapp
from mailqueue.watch.inboxes import InboxAction
from tests.adapters.sending.fake import FakeReply, says
from tests.watch.fake_twilio import fault
from tests.watch.states.documented import documented, record, recorded, writers
from tests.watch.states.walking import Person, Walk, walking
from tests.watch.watching import AUTH_TOKEN, TOKEN
from tests.webhooks.delivering import master

pytestmark = pytest.mark.anyio
BUSY, BROKEN = FakeReply(503), FakeReply(500)
TOO_LONG = says(200, {"ok": False, "error": "msg_too_long"})
REVOKED = says(200, {"ok": False, "error": "token_revoked"})
NO_CHANNEL = says(200, {"ok": False, "error": "channel_not_found"})
WRONG_NUMBER, OUTSIDE, NO_SENDER = "30005", "63016", "63007"


async def inboxes_walk(walk: Walk) -> None:
    one = await walk.person(mails=0)
    await walk.switch(one, InboxAction.PAUSE)
    await walk.switch(one, InboxAction.RESUME)
    await walk.refuse(one)
    await walk.reconnect(one)
    await walk.switch(one, InboxAction.PAUSE)
    await walk.refuse(one)  # noticed by the daily check
    await walk.by_queue("requeue", one.inbox)
    await walk.by_queue("cancel", one.inbox)
    await walk.reconnect(one)
    await walk.switch(one, InboxAction.PAUSE)
    await walk.reconnect(one)
    await walk.by_queue("cancel", one.inbox)
    await walk.by_queue("requeue", one.inbox)
    await walk.killed(one, "mailboxes")
    at_gmail = await walk.consent(one.owner)
    await walk.by_queue("cancel", at_gmail)
    await walk.consent(one.owner)


async def reconnect(walk: Walk, person: Person) -> None:
    token = Secret(TOKEN)
    await channels.reconnect(
        walk.conn, walk.project, person.channel, bot_token=token, master=master(), by="tests"
    )


async def disconnect(walk: Walk, person: Person) -> None:
    await channels.disconnect(walk.conn, walk.project, person.channel, by="tests")


async def erase(walk: Walk, person: Person) -> None:
    query = "DELETE FROM mailqueue.channel_consents WHERE channel_id = %s"
    await walk.conn.execute(query, (person.channel,))


async def slack_walk(walk: Walk) -> None:
    delivered, one, two, three, four, five, six = [await walk.person() for _ in range(7)]
    await walk.post(delivered)
    await walk.post(one, BUSY)
    await walk.post(one, BROKEN)
    await walk.retry(one)
    await walk.post(one, TOO_LONG)
    await walk.by_queue("requeue", one.one)
    await walk.by_queue("cancel", one.one)
    await walk.post(two, BROKEN)
    await disconnect(walk, two)
    await walk.post(three, REVOKED)
    await reconnect(walk, three)
    await disconnect(walk, three)
    await walk.post(four, NO_CHANNEL)
    await disconnect(walk, four)
    await muting.mute(walk.conn, walk.project, five.owner, "bob@example.com", by="tests")
    await walk.killed(six, "notifications")


async def summary_walk(walk: Walk) -> None:
    flood = await walk.person(mails=5)
    await walk.arrive(flood, 7)
    await walk.post(flood, TOO_LONG)
    await walk.retry(flood)
    await walk.post(flood, BROKEN)
    await walk.retry(flood)
    await walk.post(flood)
    muted = await walk.person(mails=12)
    await muting.mute(walk.conn, walk.project, muted.owner, "bob@example.com", by="tests")
    phone = await walk.person(mails=12, has_phone=True)
    await walk.post(phone)
    await walk.told(phone, "failed", OUTSIDE)
    await walk.post(phone)
    await walk.told(phone, "delivered")


async def phones_walk(walk: Walk) -> None:
    one, two, three, four, five, six, seven = [await walk.person(has_phone=True) for _ in range(7)]
    await walk.post(one)
    await walk.told(one, "failed", WRONG_NUMBER)
    await walk.retry(one)
    await walk.post(one)
    await walk.told(one, "failed", OUTSIDE)
    await walk.post(one)
    await walk.told(one, "failed", NO_SENDER)
    await whatsapp.reconnect(
        walk.conn,
        walk.project,
        one.channel,
        auth_token=Secret(AUTH_TOKEN),
        master=master(),
        by="tests",
    )
    await walk.post(one, BROKEN)
    await walk.told(one, "sent", number=91)
    await walk.told(one, "delivered", number=91)
    await walk.post(two, BROKEN)
    await walk.told(two, "delivered", number=92)
    await walk.post(three, BROKEN)
    await walk.told(three, "failed", WRONG_NUMBER, number=93)
    await walk.retry(three)
    await walk.post(three, BROKEN)
    await walk.told(three, "failed", OUTSIDE, number=94)
    await walk.says(four, "STOP")
    await walk.says(four, "START")
    await walk.says(four, "STOP")
    await disconnect(walk, four)
    await walk.post(five, fault(400, int(NO_SENDER)))
    await walk.says(five, "STOP")
    await erase(walk, five)
    await erase(walk, six)
    await walk.post(seven, BROKEN)
    await erase(walk, seven)


async def test_each_documented_transition_has_a_cause_and_there_are_no_others(
    database: DatabaseSettings,
) -> None:
    async with walking(database) as walk:
        await record(walk.conn)
        await inboxes_walk(walk)
        await slack_walk(walk)
        await summary_walk(walk)
        await phones_walk(walk)
        found, wanted = await recorded(walk.conn), documented()

    assert sorted(set(found) - set(wanted)) == [], "these are not in the documentation"
    assert sorted(set(wanted) - set(found)) == [], "these have no cause"
    for one, functions in found.items():
        assert functions <= wanted[one], f"{one} by others than documented"
    named = set[str]().union(*wanted.values())
    assert named == set[str]().union(*found.values()), "each function was a cause"


async def test_functions_that_write_a_state_are_those_of_the_documentation(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        found = await writers(conn)
    named = set[str]().union(*documented().values())
    # An inbox and a notification that are being worked on are as they were before.
    tables = ("mailboxes", "notifications")
    claims = {f"{verb}_{table}" for verb in ("claim", "give_back") for table in tables}
    assert sorted(found - claims - named) == []
    assert named - {"time", "cancel_queue_rows"} <= found, "the text of each is read"


async def test_a_function_beside_the_documentation_is_found(conn: Conn) -> None:
    await conn.execute(
        "CREATE FUNCTION mailqueue.odd() RETURNS void LANGUAGE sql AS"
        " 'UPDATE mailqueue.mailboxes AS m SET status = DEFAULT'"
    )
    assert await writers(conn) - set[str]().union(*documented().values()) >= {"odd"}
