"""The clients begin, show and delete exports."""

import asyncio

import pytest

from mailqueue.client import InvalidRequest, SyncClient
from tests.api.support.calling import Calling
from tests.client.serving import AT_ONCE, client_of, served

pytestmark = pytest.mark.anyio


async def test_an_export_is_begun_shown_and_deleted(shared_api: Calling) -> None:
    async with client_of(shared_api) as client:
        begun = await client.begin_export("events", form="ndjson", type="complaint")
        assert (begun.kind, begun.format, begun.state) == ("events", "ndjson", "waiting")
        assert begun.filter == {"type": "complaint"}
        assert (await client.get_export(begun.id)).id == begun.id

        assert (await client.delete_export(str(begun.id))).state == "deleted"
        with pytest.raises(InvalidRequest) as caught:
            await client.begin_export("nothing")
    assert caught.value.field == "kind"


async def test_programs_without_asyncio_export_too(shared_api: Calling) -> None:
    def run(url: str) -> None:
        with SyncClient(url, shared_api.key, retries=AT_ONCE) as client:
            begun = client.begin_export("suppressions")
            assert client.get_export(begun.id).format == "csv"
            assert client.delete_export(begun.id).state == "deleted"

    async with served(shared_api) as url:
        await asyncio.to_thread(run, url)
