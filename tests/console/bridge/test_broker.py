"""The message broker in the console: the state of queues, and dead letters that are replayed."""

import re
from functools import partial
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from mailqueue.bridge import letters
from mailqueue.contract.automation.bridge import ConsumptionState
from tests import make
from tests.bridge.keeping import note_queue, unhandled
from tests.bridge.messages import masstransit
from tests.console.visiting import Visiting, Visitor
from tests.inbox import events

pytestmark = pytest.mark.anyio

PATH = "/console/projects/default/broker"
MAILS = "SELECT count(*) FROM mailqueue.email_queue"


async def test_queues_say_whether_their_messages_are_taken_and_why_not(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await console.add_user("ann", "viewer", "default")
        await visitor.log_in("ann")
        empty = (await visitor.get(PATH)).text
        await note_queue(conn, "default")
        taken = (await visitor.get(PATH)).text
        refused = "ACCESS_REFUSED - login refused"
        await note_queue(conn, "default", state=ConsumptionState.UNAVAILABLE, reason=refused)
        broken = (await visitor.get(PATH)).text

    assert "mailqueue worker rabbitmq" in empty
    assert "its messages are taken" in taken
    assert ("the broker or the queue cannot be used" in broken, refused in broken) == (True, True)


async def test_a_dead_letter_is_read_and_replayed_after_the_preview_says_what_happens(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        project = await events.project_with_template(conn)
        good = await unhandled(conn, "default", body=masstransit())
        bad = await unhandled(conn, "default", "<b>not JSON</b>")
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        listed = (await visitor.get(PATH)).text
        shown = (await visitor.get(f"{PATH}/{good}")).text
        unread = (await visitor.get(f"{PATH}/{bad}")).text
        await events.rule(conn, project)
        one = f"{PATH}/{good}/replay"
        asked = (await visitor.get(one)).text
        before = await make.scalar(conn, MAILS)
        form = await visitor.form(one, one)
        done = await visitor.post(one, form)
        again = await visitor.post(one, form)
        after = (await visitor.get(done.headers["location"])).text
        handled = (await visitor.get(one)).text
        failed = await visitor.submit(f"{PATH}/{bad}/replay", f"{PATH}/{bad}/replay")
        mails = await make.scalar(conn, MAILS)

    assert ("it failed" in listed, "&lt;b&gt;not JSON" in listed) == (True, True)
    assert ("urn:message:Shop.Contracts:OrderPlaced" in shown, "no event" in unread) == (True, True)
    assert "It becomes an event. By today's rules: 1 email queued." in unescape(asked)
    assert (before, mails) == (0, 1)
    assert again.headers["location"].endswith("done=before")
    assert "It was handled by today's rules." in unescape(after)
    assert "It is an event already" in handled
    assert failed.headers["location"].endswith("done=failed")


async def test_dead_letters_of_a_type_are_counted_first_and_then_replayed(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        project = await events.project_with_template(conn)
        await events.rule(conn, project)
        for type_ in ("OrderPlaced", "OrderPlaced", "OrderClosed"):
            await unhandled(conn, "default", body=masstransit(type_=type_))
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        listed = (await visitor.get(f"{PATH}?type=OrderClosed")).text
        wrong = (await visitor.get(f"{PATH}?status=lost")).text
        path = f"{PATH}/replay"
        typed = {"type": "OrderPlaced"}
        counted = await visitor.submit(path, path, **typed, only_count="on")
        said = (await visitor.get(counted.headers["location"])).text
        before = await make.scalar(conn, MAILS)
        done = await visitor.submit(path, path, **typed)
        after = (await visitor.get(done.headers["location"])).text
        mails = await make.scalar(conn, MAILS)

    assert listed.count("/console/projects/default/broker/0") == 1
    assert "Nothing is listed, because a filter is wrong" in wrong
    assert "Nothing was done. By today's rules: 2 read, 2 became events" in unescape(said)
    assert (before, mails) == (0, 2)
    assert "Replayed: 2 read, 2 became events, 2 emails queued." in after


async def test_letters_that_still_fail_do_not_keep_a_replay_from_those_behind_them(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay = partial(letters.replay, limit=2)
    monkeypatch.setattr(letters, "replay", replay)
    path = f"{PATH}/replay"
    async with console.visitor() as visitor, console.connection() as conn:
        project = await events.project_with_template(conn)
        await events.rule(conn, project)
        for n in range(2):
            await unhandled(conn, "default", body=b"no event %d" % n)
        await unhandled(conn, "default", body=masstransit())
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        counted = await visitor.submit(path, path, only_count="on")
        again = await onward(visitor, counted.headers["location"])
        first = await visitor.submit(again, path, **typed_in(again))
        said = (await visitor.get(first.headers["location"])).text
        again = await onward(visitor, first.headers["location"])
        second = await visitor.submit(again, path, **typed_in(again))
        after = (await visitor.get(second.headers["location"])).text
        wrong = await visitor.submit(path, path, after="x")
        mails = await make.scalar(conn, MAILS)

    assert "Replayed: 2 read, 2 cannot be handled, and stay. More wait" in said
    assert "Replayed: 1 read, 1 became events, 1 emails queued." in after
    assert (mails, wrong.status_code, 'id="fault-after"' in wrong.text) == (1, 422, True)


async def onward(visitor: Visitor, page: str) -> str:
    """Return where the button of the list leads that replays."""
    (path,) = re.findall(f'href="({PATH}/replay[^"]*)"', (await visitor.get(page)).text)
    return unescape(path)


def typed_in(path: str) -> dict[str, str]:
    """Return what a link fills into a form."""
    return dict(parse_qsl(urlsplit(path).query))


async def test_a_viewer_reads_no_message_and_support_replays_none(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        letter = await unhandled(conn, "default")
        await console.add_user("ann", "viewer", "default")
        await console.add_user("ben", "support", "default")
        await visitor.log_in("ann")
        hidden = await visitor.get(f"{PATH}/{letter}")
        await visitor.log_in("ben")
        shown = await visitor.get(f"{PATH}/{letter}")
        path = f"{PATH}/{letter}/replay"
        refused = await visitor.post(path, {"token": visitor.token(path)})

    assert (hidden.status_code, shown.status_code, refused.status_code) == (403, 200, 403)
    assert f'href="{path}"' not in shown.text
