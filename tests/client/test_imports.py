"""The clients begin imports, follow and list them."""

import asyncio

import pytest

from mailqueue.client import Conflict, InvalidRequest, NotFound, SyncClient
from tests.api.support.calling import Calling
from tests.client.serving import client_of, served
from tests.imports import steps

pytestmark = pytest.mark.anyio

FILE = b"email\nann@example.com\nno address\n"


async def test_imports_of_both_kinds_are_begun_followed_and_listed(shared_api: Calling) -> None:
    async with client_of(shared_api) as client:
        contacts = await client.begin_import_of_contacts(FILE)
        refusing = await client.begin_import_of_suppressions(FILE, reason="complaint")
        await steps.worked(shared_api.database)
        done = await client.get_import("contacts", contacts.id)
        other = await client.get_import("suppressions", refusing.id)
        later = await client.begin_import_of_contacts(FILE)
        cancelled = await client.cancel_import("contacts", later.id)
        with pytest.raises(Conflict, match="done"):
            await client.cancel_import("contacts", contacts.id)
        page = await client.list_imports("suppressions", limit=5)
        with pytest.raises(NotFound):
            await client.get_import("contacts", refusing.id)
        with pytest.raises(InvalidRequest, match="file"):
            await client.begin_import_of_contacts(b"name\nAnn\n")

    assert cancelled.state == "cancelled"
    assert (contacts.state, done.state, other.state) == ("waiting", "done", "done")
    assert (done.taken, other.options) == ({"added": 1}, {"reason": "complaint"})
    assert [(one.line, one.column) for one in done.refusals] == [(3, "email")]
    assert page.data[0].id == refusing.id


async def test_the_client_without_asyncio_does_the_same(shared_api: Calling) -> None:
    def work(url: str) -> tuple[str, str]:
        with SyncClient(url, shared_api.key) as client:
            begun = client.begin_import_of_suppressions(FILE)
            return begun.state, client.get_import("suppressions", begun.id).state

    async with served(shared_api) as url:
        assert await asyncio.to_thread(work, url) == ("waiting", "waiting")
