"""The open page of the infrastructure."""

import asyncio

import pytest

from mailqueue.console.infrastructure import pages
from tests import make
from tests.console.live.serving import Served

pytestmark = pytest.mark.anyio


async def test_an_open_page_shows_that_a_worker_started(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "READ_SECONDS", 0)
    await served.console.add_user("ann")
    page = await served.open(await served.browser("ann"), f"{pages.PATH}/live")
    assert set(await page.until("parts")) == set(pages.SECTIONS)
    async with served.console.connection() as conn:
        await make.worker(conn, host="late.example.com")
    async with asyncio.timeout(20):
        while "late.example.com" not in (await page.until("parts")).get("workers", ""):
            pass
