"""The clients put timed events and keep schedules."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.client import Client, Conflict, InvalidRequest, NotFound, SyncClient
from mailqueue.db.pool import connect
from tests.api.support.calling import Calling
from tests.client.serving import AT_ONCE, client_of, served
from tests.timed_events import events

pytestmark = pytest.mark.anyio

LATER = datetime(2050, 5, 31, 7, tzinfo=UTC)
SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)
MORNING = datetime(2050, 5, 31, 9)  # noqa: DTZ001  a wall clock
HELLO: dict[str, Any] = {"to": ["ann@example.com"], "subject": "Hello", "text_body": "Hello"}


@pytest.fixture(scope="module")
async def with_template(shared_api: Calling) -> Calling:
    async with connect(shared_api.database) as conn:
        await events.template(conn)
    return shared_api


@pytest.fixture
async def client(with_template: Calling) -> AsyncIterator[Client]:
    async with client_of(with_template) as made:
        yield made


async def test_a_timed_event_is_put_once_changed_and_cancelled(client: Client) -> None:
    key, given = f"ä {uuid4()}", {"template": "welcome", "recipient": "ann@example.com"}
    made = await client.put_timed_event(
        "renewal",
        local_at=MORNING,
        time_zone="Europe/Berlin",
        payload={"plan": "Team"},
        idempotency_key=key,
        **given,  # type: ignore[arg-type]
    )
    again = await client.put_timed_event("other", at=LATER, idempotency_key=key, **given)  # type: ignore[arg-type]
    assert (made.is_new, again.is_new, again.event) == (True, False, made.event)
    assert (made.event.at, made.event.local_at) == (LATER, "2050-05-31T09:00:00")
    assert (made.event.status, made.event.payload) == ("PENDING", {"plan": "Team"})

    moved = LATER + timedelta(days=1)
    changed = await client.change_timed_event(made.event.id, version=1, at=moved)
    assert (changed.at, changed.version) == (moved, 2)
    assert await client.timed_event(str(changed.id)) == changed
    with pytest.raises(Conflict):
        await client.change_timed_event(changed.id, version=1, local_at="2050-06-02T09:00:00")
    with pytest.raises(Conflict):
        await client.cancel_timed_event(changed.id, version=1)

    assert (await client.cancel_timed_event(changed.id)).status == "FAILED"
    with pytest.raises(NotFound):
        await client.timed_event(uuid4())
    with pytest.raises(InvalidRequest) as caught:
        await client.put_timed_event(
            "renewal", at=LATER, template="none", recipient="a@example.com"
        )
    assert caught.value.field == "template"


async def test_timed_events_are_listed_by_pages(client: Client) -> None:
    kind = f"k{uuid4().hex[:12]}"
    made = [
        (await client.put_timed_event(kind, at=LATER, template="welcome", recipient=to)).event.id
        for to in ("ann@example.com", "bob@example.com", "cleo@example.com")
    ]

    page = await client.timed_events(kind=kind, status="PENDING", until=LATER, limit=2)
    assert page.data == ()
    page = await client.timed_events(kind=kind, status="PENDING", since=LATER, limit=2)
    rest = await client.timed_events(kind=kind, status="PENDING", cursor=page.next_cursor)

    assert [one.id for one in (*page.data, *rest.data)] == made[::-1]
    assert rest.next_cursor is None


async def test_a_schedule_is_created_previewed_paused_and_cancelled(client: Client) -> None:
    name = f"Digest {uuid4()}"
    made = await client.create_schedule(
        "cron", HELLO, name=name, cron_expression="0 9 * * 1", timezone="America/New_York"
    )
    assert (made.status, made.run_count, made.name) == ("active", 0, name)
    seen = await client.preview_schedule(made.id, count=3)
    assert (seen.timezone, len(seen.data)) == ("America/New_York", 3)
    assert seen.data[0].run_at == made.next_run_at

    assert (await client.pause_schedule(made.id)).status == "paused"
    listed = (await client.schedules(status="paused")).data
    assert [one.id for one in listed] == [made.id]
    assert (await client.resume_schedule(made.id)).status == "active"
    assert (await client.schedule(str(made.id))).status == "active"
    assert (await client.schedule_runs(made.id)).data == ()

    assert (await client.cancel_schedule(made.id)).status == "cancelled"
    with pytest.raises(NotFound):
        await client.pause_schedule(uuid4())
    with pytest.raises(InvalidRequest) as caught:
        await client.create_schedule("cron", HELLO, cron_expression="0 0 30 2 *")
    assert caught.value.field == "cron_expression"


async def test_a_schedule_is_run_at_once_and_its_runs_are_listed(client: Client) -> None:
    made = await client.create_schedule("once", HELLO, run_at=SOON)
    assert made.next_run_at == SOON
    begun = await client.run_schedule(made.id)

    (run,) = (await client.schedule_runs(made.id, limit=1)).data

    assert (run.schedule_id, run.number, run.started_by) == (made.id, 1, "request")
    assert begun.id == run.id


async def test_a_schedule_is_tried_and_not_added(client: Client) -> None:
    found = await client.try_schedule("cron", HELLO, cron_expression="0 9 * * *", name="daily")

    assert (found.recipients, found.daily_limit) == (1, None)
    assert "daily" not in [one.name for one in (await client.schedules()).data]


async def test_the_next_run_is_estimated_and_skipped(client: Client) -> None:
    made = await client.create_schedule("cron", HELLO, cron_expression="0 9 * * *")
    assert made.next_run_at is not None

    assert (await client.estimate_schedule(made.id)).recipients == 1
    skipped = await client.skip_run(made.id)

    assert skipped.skipped_at == made.next_run_at
    assert (await client.schedule(made.id)).next_run_at == skipped.next_run_at


async def test_programs_without_asyncio_have_the_same(with_template: Calling) -> None:
    def run(url: str) -> None:
        with SyncClient(url, with_template.key, retries=AT_ONCE) as client:
            event = client.put_timed_event(
                "sync", at=LATER, template="welcome", recipient="ann@example.com"
            ).event
            assert client.timed_event(event.id) == event
            assert [one.id for one in client.timed_events(kind="sync").data] == [event.id]
            changed = client.change_timed_event(event.id, version=1, payload={"n": 1})
            assert changed.payload == {"n": 1}
            assert client.cancel_timed_event(event.id, version=2).status == "FAILED"
            made = client.create_schedule("once", HELLO, run_at=f"{SOON:%Y-%m-%dT%H:%M:%S}")
            assert client.schedule(made.id) == made
            assert made.id in [one.id for one in client.schedules().data]
            assert client.pause_schedule(made.id).status == "paused"
            assert client.resume_schedule(made.id).status == "active"
            assert len(client.preview_schedule(made.id).data) == 1
            assert client.schedule_runs(made.id).data == ()
            assert client.cancel_schedule(made.id).status == "cancelled"

    async with served(with_template) as url:
        await asyncio.to_thread(run, url)
