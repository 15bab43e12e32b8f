"""The clients create, send, show, decide and cancel A/B tests."""

import asyncio

import pytest

from mailqueue.client import InvalidRequest, SyncClient
from tests.api.support.calling import Calling
from tests.client.serving import AT_ONCE, client_of, served

pytestmark = pytest.mark.anyio
VARIANTS = [{"name": one, "share": 50, "subject": one} for one in ("A", "B")]


async def test_a_test_is_created_sent_shown_and_decided(shared_api: Calling) -> None:
    async with client_of(shared_api) as client:
        test = await client.create_ab_test(
            name="Spring", html_body="<p>Hello</p>", variants=VARIANTS
        )
        sent = await client.send_ab_test(
            test.id, ["ann@example.com", {"email": "bob@example.com", "name": "Bob"}]
        )
        assert [one.status for one in sent.results] == ["queued", "queued"]
        found = await client.get_ab_test(str(test.id))
        assert (found.state, found.recipients) == ("running", 2)
        assert sum(one.accepted for one in found.variants) == 2
        assert (await client.decide_ab_test(test.id, "A")).winner == "A"
        with pytest.raises(InvalidRequest):
            await client.create_ab_test(name="x", variants=[])


async def test_programs_without_asyncio_compare_variants_too(shared_api: Calling) -> None:
    def run(url: str) -> None:
        with SyncClient(url, shared_api.key, retries=AT_ONCE) as client:
            test = client.create_ab_test(name="Spring", html_body="<p>x</p>", variants=VARIANTS)
            assert client.send_ab_test(test.id, ["ann@example.com"]).results[0].status == "queued"
            assert client.cancel_ab_test(test.id).state == "cancelling"

    async with served(shared_api) as url:
        await asyncio.to_thread(run, url)
