"""Links are served on hosts without the API, which is not reachable there."""

import asyncio
import urllib.error
import urllib.request

import pytest

from mailqueue.core.secret import Secret
from mailqueue.core.services.registry import service_named
from mailqueue.db.pool import open_pool
from mailqueue.settings.environment import load_settings
from mailqueue.wiring.services.running import ServiceContext, listen


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url) as response:
            return int(response.status)
    except urllib.error.HTTPError as exc:
        return exc.code


@pytest.mark.anyio
async def test_links_are_served_and_the_api_is_not(fresh_db: str) -> None:
    settings = load_settings(
        database_url=Secret(fresh_db), public_port=0, no_trap=True, master_key="A" * 43 + "="
    )
    async with open_pool(settings.database, application_name="test") as pool:
        context = ServiceContext(settings, pool, asyncio.Event(), report=print)
        async with listen(service_named("links"), context) as running:
            assert running is not None
            found = [
                await asyncio.to_thread(status_of, f"{running.url}{path}")
                for path in ("/readyz", "/inbound/resend/none", "/openapi.json")
            ]

    assert found == [200, 405, 404]
