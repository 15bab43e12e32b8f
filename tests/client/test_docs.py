"""The examples of the page about the Python client work."""

import asyncio
from typing import Any

import pytest

from tests import make
from tests.api.support.calling import Calling
from tests.client.serving import served
from tests.docs.reading import blocks

pytestmark = pytest.mark.anyio


def programs() -> list[str]:
    found = [each.text for each in blocks("python") if each.page == "docs/clients/python.md"]
    assert len(found) == 5
    return found


async def count(api: Calling) -> int:
    async with api.pool.connection() as conn:
        return int(await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue"))


async def test_the_programs_of_the_page_run(shared_api: Calling, module_db: str) -> None:
    base = "/v1/projects/default/templates"
    await shared_api.post(base, {"slug": "order-confirmation"})
    words = {"subject": "Order", "html_body": "<p>{{ product }}</p>"}
    await shared_api.post(f"{base}/order-confirmation/versions", words)
    await shared_api.post(f"{base}/order-confirmation/versions/1/publish")
    before = await count(shared_api)

    def run(url: str) -> None:
        names: dict[str, Any] = {}
        for text in programs():
            text = text.replace("postgresql://…", module_db)
            text = text.replace("http://127.0.0.1:8025", url).replace("mq_live_…", shared_api.key)
            exec(compile(text, "python.md", "exec"), names)
        asyncio.run(names["remind"](["ann@example.org", "bob@example.org"]))
        asyncio.run(names["main"]())

    async with served(shared_api) as url:
        await asyncio.to_thread(run, url)

    # one, two that are reminded, one that is cancelled, one of a template, two of a batch
    assert await count(shared_api) == before + 1 + 2 + 0 + 1 + 2
