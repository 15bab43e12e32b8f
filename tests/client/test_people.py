"""The clients import contacts, and keep sequences and enrollments."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from mailqueue.client import Client, InvalidRequest, NotFound, SyncClient
from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling
from tests.client.serving import client_of, served
from tests.contacts import people
from tests.sequences import running
from tests.templates.making import published

pytestmark = pytest.mark.anyio

FILE = b"""email,first_name,plan
ann@example.com,Ann,pro
no address,Bob,free
bob@example.com,Bob,pro
"""
LEA = b"email\nlea@example.com\n"


@pytest.fixture(scope="module")
async def with_people(shared_api: Calling) -> Calling:
    async with connect(shared_api.database) as conn:
        project_id = await make.project_named(conn)
        await published(conn, project_id, slug="news")
        await running.sequence(conn, project_id, {"name": "welcome", "template": "news"})
        await people.list_of(conn, project_id, "news")
    return shared_api


@pytest.fixture
async def client(with_people: Calling) -> AsyncIterator[Client]:
    async with client_of(with_people) as made:
        yield made


async def test_contacts_are_imported_and_bad_lines_are_named(client: Client) -> None:
    tried = await client.import_contacts(FILE, into_list="news", dry_run=True)
    assert (tried.dry_run, tried.added, tried.bad) == (True, 2, 1)
    assert not (await client.contacts(q="ann@example.com")).data
    done = await client.import_contacts(FILE, into_list="news")
    assert (done.dry_run, done.added, done.bad) == (False, 2, 1)
    assert [one.line for one in done.errors] == [3]
    again = await client.import_contacts(FILE, into_list="news")
    assert (again.added, again.unchanged) == (0, 2)
    assert (await client.contact("ann@example.com")).attributes == {"plan": "pro"}
    assert (await client.count_list("news")).contacts == 2
    with pytest.raises(NotFound):
        await client.import_contacts(FILE, into_list="no-such-list")


async def test_a_sequence_is_read_paused_and_its_enrollments_are_listed(client: Client) -> None:
    assert [one.name for one in await client.sequences()] == ["onboarding"]
    enrolled = await client.import_enrollments("onboarding", b'["eve@example.com", "no address"]')
    assert (enrolled.enrolled, enrolled.bad) == (1, 1)
    one = await client.enroll("onboarding", "kim@example.com", variables={"plan": "pro"})
    assert one.outcome == "enrolled"
    page = await client.enrollments(sequence="onboarding", limit=1)
    assert [each.email for each in page.data] == ["kim@example.com"]
    rest = await client.enrollments(sequence="onboarding", cursor=page.next_cursor)
    assert [each.email for each in rest.data] == ["eve@example.com"]
    counts = await client.sequence_counts("onboarding")
    assert counts.steps[0].waiting == 2

    assert (await client.pause_sequence("onboarding")).is_paused
    assert (await client.sequence("onboarding")).is_paused
    assert not (await client.resume_sequence("onboarding")).is_paused
    assert one.enrollment_id is not None
    assert (await client.unenroll(one.enrollment_id)).state == "left"
    assert [each.email for each in (await client.enrollments(state="left")).data] == [
        "kim@example.com"
    ]
    with pytest.raises(NotFound):
        await client.sequence("none")


async def test_mail_to_a_list_is_a_batch(client: Client) -> None:
    await client.import_contacts(FILE, into_list="news")
    sent = await client.send(["news"], subject="We moved", text="Hello", category="marketing")
    assert sent.status == "expanding"
    assert (await client.batch(sent.id)).id == sent.id
    with pytest.raises(InvalidRequest, match="category"):
        await client.send(["news"], subject="Your code", text="1234")


async def test_the_client_without_asyncio_does_the_same(with_people: Calling) -> None:
    def work(url: str) -> tuple[int, int]:
        with SyncClient(url, with_people.key) as client:
            added = client.import_contacts(LEA).added
            return added, client.import_enrollments("onboarding", LEA).enrolled

    async with served(with_people) as url:
        assert await asyncio.to_thread(work, url) == (1, 1)
