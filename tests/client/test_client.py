"""The clients return the API's responses as values."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue import client as public
from mailqueue.client import (
    Attachment,
    Client,
    Conflict,
    InvalidRequest,
    Kept,
    NoAnswer,
    NotFound,
    SyncClient,
    To,
)
from tests.api.support.calling import Calling
from tests.client.serving import AT_ONCE, client_of, served

pytestmark = pytest.mark.anyio


pytestmark = pytest.mark.anyio


HI: Any = {"subject": "Hi", "text": "Hello"}


PDF = b"%PDF-1.7 nothing"


@pytest.fixture
async def client(shared_api: Calling) -> AsyncIterator[Client]:
    async with client_of(shared_api) as made:
        yield made


@pytest.fixture(scope="module")
async def welcome(shared_api: Calling) -> str:
    """The slug of a template with a published version that needs a name."""
    path = "/v1/projects/default/templates"
    await shared_api.post(path, {"slug": "welcome", "name": "Welcome"})
    made = await shared_api.post(
        f"{path}/welcome/versions",
        {
            "subject": "Hello {{ name }}",
            "html_body": "<p>{{ name }}</p>",
            "text_body": "{{ name }}",
            "variables_schema": {"type": "object", "required": ["name"]},
        },
    )
    assert made.status_code == 201, made.text
    published = await shared_api.post(f"{path}/welcome/versions/1/publish")
    assert published.status_code == 200, published.text
    return "welcome"


def somebody() -> str:
    return f"{uuid4().hex[:12]}@example.com"


async def test_contacts_are_put_listed_and_removed(client: Client) -> None:
    who = somebody()
    made = await client.put_contact(who, first_name="Ann", date_of_birth="1990-02-28")
    assert (made.email, made.date_of_birth) == (who, date(1990, 2, 28))
    assert (await client.put_contact(who, attributes={"plan": "pro"})).id == made.id
    found = await client.contacts(q=who, condition='$.attributes.plan == "pro"')
    assert [one.id for one in found.data] == [made.id]
    with pytest.raises(InvalidRequest):
        await client.put_contact(who, time_zone="Mars/Base")
    with pytest.raises(NotFound):
        await client.add_to_list("nobody", who)

    removed = await client.remove_contact(made.id)

    assert (removed.email, removed.cancelled) == (who, 0)
    with pytest.raises(NotFound):
        await client.contact(who)


async def test_contacts_are_in_lists(client: Client, shared_api: Calling) -> None:
    who = somebody()
    await shared_api.post("/v1/lists", {"name": "news"})
    await client.put_contact(who)

    assert (await client.add_to_list("news", who)).changed == 1
    assert (await client.count_list("news", category="marketing")).contacts == 1
    assert [one.list for one in (await client.contact(who)).lists] == ["news"]
    assert (await client.remove_from_list("news", who)).changed == 1


async def test_a_mail_is_sent_shown_cancelled_and_resent(client: Client) -> None:
    to = somebody()
    sent = await client.send(
        [f"Ann <{to}>", "bob@example.com"],
        cc="cleo@example.com",
        custom_data={"order": 81},
        tags=["a"],
        run_at=datetime(2030, 5, 1, 8, tzinfo=UTC),
        priority="high",
        **HI,
    )

    shown = await client.get(sent.id)
    assert (sent.status, sent.reason, sent.is_repeated) == ("queued", None, False)
    assert (shown.id, shown.status, shown.subject) == (sent.id, "pending", "Hi")
    assert [(one.kind, one.address) for one in shown.recipients] == [
        ("to", to),
        ("to", "bob@example.com"),
        ("cc", "cleo@example.com"),
    ]
    assert (shown.custom_data, shown.tags, shown.priority) == ({"order": 81}, ("a",), "high")
    assert shown.scheduled_at == datetime(2030, 5, 1, 8, tzinfo=UTC)
    assert shown.timeline[0].what == "accepted"
    assert b"Subject: Hi" in await client.source(sent.id)
    assert [one.type for one in await client.events(str(sent.id))] == ["queued"]

    cancelled = await client.cancel(sent.id, reason="ordered twice")
    again = await client.resend(sent.id)
    assert (cancelled.id, cancelled.result, again.result) == (sent.id, "cancelled", "requeued")
    with pytest.raises(Conflict) as caught:
        await client.release(sent.id)
    assert (caught.value.status, caught.value.code) == (409, "conflict")


async def test_mail_is_listed_by_pages_and_to_its_end(client: Client) -> None:
    tag = uuid4().hex
    ids = [(await client.send("ann@example.com", tags=[tag], **HI)).id for _ in range(3)]

    page = await client.list(tag=tag, limit=2)
    rest = await client.list(tag=tag, limit=2, cursor=page.next_cursor)

    assert [one.id for one in (*page.data, *rest.data)] == ids[::-1]
    assert rest.next_cursor is None
    assert [one.id async for one in client.iterate(tag=tag, to="ann@example.com")] == ids[::-1]
    with pytest.raises(InvalidRequest) as caught:
        await client.list(status="lost")
    assert caught.value.field == "status"


async def test_mail_is_listed_by_its_custom_data(client: Client) -> None:
    order = uuid4().hex
    sent = await client.send("ann@example.com", custom_data={"order": order, "n": 1}, **HI)
    await client.send("ann@example.com", custom_data={"order": uuid4().hex}, **HI)

    for wanted in (f"order={order}", {"order": order}, {"order": order, "n": 1}):
        page = await client.list(custom_data=wanted)
        assert [one.id for one in page.data] == [sent.id]


async def test_mail_is_listed_by_a_part_of_its_subject(client: Client) -> None:
    part = uuid4().hex
    sent = await client.send("ann@example.com", **HI | {"subject": f"Order {part}!"})

    page = await client.list(contains=part.upper())

    assert [one.id for one in page.data] == [sent.id]


async def test_many_are_written_to_in_one_call(client: Client, welcome: str) -> None:
    done = await client.send_batch(
        [To(somebody(), name="Ann", custom_data={"n": 1}), somebody(), "nobody"], **HI
    )
    state = await client.batch(done.batch_id)
    named = await client.send_batch([To(somebody(), variables={"name": "Ann"})], template=welcome)

    assert (done.accepted, done.rejected, len(done.email_ids)) == (2, 1, 2)
    assert [one.status for one in done.results] == ["queued", "queued", "rejected"]
    assert (state.id, state.counts) == (done.batch_id, {"pending": 2})
    assert named.accepted == 1
    with pytest.raises(InvalidRequest) as caught:
        await client.send_batch(["nobody"], mode="strict", **HI)
    assert caught.value.field == "recipients"
    assert caught.value.violations[0][0] == "recipients.0.email"


async def test_templates_are_sent_and_looked_at(client: Client, welcome: str) -> None:
    sent = await client.send_template(somebody(), welcome, variables={"name": "Ann"})
    same = await client.send(somebody(), template="welcome@1", variables={"name": "Bob"})
    found = await client.template(welcome)
    seen = await client.preview(welcome, variables={"name": "Ann"})

    assert (sent.status, same.status) == ("queued", "queued")
    assert (found.slug, found.published_version) == (welcome, 1)
    assert [one.slug for one in (await client.templates()).data] == [welcome]
    assert [one.version for one in (await client.template_versions(welcome)).data] == [1]
    assert (seen.subject, seen.text_body.strip()) == ("Hello Ann", "Ann")
    for asked in ({"template": "gone"}, {"template": welcome, "variables": {}}):
        with pytest.raises(InvalidRequest) as caught:
            await client.send(somebody(), **asked)
        assert caught.value.field in ("template", "variables")


async def test_files_are_sent_along_and_by_their_ids(client: Client) -> None:
    kept = await client.upload(Attachment("bill.pdf", PDF))

    sent = await client.send(
        somebody(), attachments=[Kept(kept.id), Attachment("other.pdf", PDF)], **HI
    )

    message = await client.source(sent.id)
    assert (kept.filename, kept.bytes) == ("bill.pdf", len(PDF))
    assert (b"bill.pdf" in message, b"other.pdf" in message) == (True, True)


async def test_an_event_is_delivered_once(client: Client) -> None:
    message, payload = uuid4(), {"orderId": "81"}

    first = await client.deliver_event("OrderPlaced", payload, message_id=message)
    again = await client.deliver_event("OrderPlaced", payload, message_id=str(message))

    assert (first.message_id, first.status, first.is_duplicate) == (message, "ignored", False)
    assert (again.is_duplicate, again.receive_count, again.actions) == (True, 2, ())


async def test_suppressions_are_added_looked_at_and_ended(client: Client) -> None:
    to = somebody()

    (added,) = await client.suppress(to, reason="manual", detail="asked by phone")
    found = await client.check_suppression(to)
    sent = await client.send(to, **HI)
    listed = await client.suppressions(q=to)
    gone = await client.unsuppress(to)

    assert (added.email, added.status) == (to, "added")
    assert (found.suppressed, found.suppressions[0].detail) == (True, "asked by phone")
    assert sent.status == "suppressed"
    assert [one.email for one in listed.data] == [to]
    assert gone.removed == 1
    with pytest.raises(NotFound):
        await client.unsuppress(to)


async def test_programs_without_asyncio_have_the_same(shared_api: Calling, welcome: str) -> None:
    to = somebody()

    def run(url: str) -> None:
        with SyncClient(url, shared_api.key, retries=AT_ONCE) as client:
            sent = client.send(to, **HI)
            assert client.get(sent.id).recipient_email == to
            assert [one.id for one in client.iterate(to=to)] == [sent.id]
            assert client.list(to=to).next_cursor is None
            assert client.source(sent.id)
            assert [one.type for one in client.events(sent.id)] == ["queued"]
            assert client.cancel(sent.id).result == "cancelled"
            assert client.resend(sent.id).result == "requeued"
            with pytest.raises(Conflict):
                client.release(sent.id)
            assert client.send_batch([to], **HI).accepted == 1
            assert client.batch(client.send_batch([to], **HI).batch_id).recipients == 1
            assert client.send_template(to, welcome, variables={"name": "x"}).status == "queued"
            assert client.template(welcome).slug == welcome
            assert client.templates().data
            assert client.template_versions(welcome).data
            assert client.preview(welcome, variables={"name": "x"}).subject == "Hello x"
            assert isinstance(client.upload(Attachment("a.pdf", PDF)).id, UUID)
            assert client.suppress(to)[0].status == "added"
            assert client.check_suppression(to).suppressed
            assert client.suppressions(q=to).data
            assert client.unsuppress(to).removed == 1

    async with served(shared_api) as url:
        await asyncio.to_thread(run, url)
    with pytest.raises(NoAnswer), SyncClient(url, shared_api.key, retries=AT_ONCE) as client:
        await asyncio.to_thread(client.get, uuid4())


def test_both_clients_have_the_same_methods() -> None:
    ours, others = (
        {name for name in vars(each) if not name.startswith("_")} for each in (Client, SyncClient)
    )

    assert ours - {"aclose"} == others - {"close"}
    assert all(hasattr(public, name) for name in public.__all__)
