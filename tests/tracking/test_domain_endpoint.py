"""A project's tracking domain over HTTP."""

from dataclasses import replace

import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.pool import borrow, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.tenants.keys.manage import issue_key
from mailqueue.wiring.api import build_services
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER
from tests.deliverability.nameserver import Zone, serving

pytestmark = pytest.mark.anyio

URL = "https://mail.example.com"
PATH = "/v1/tracking-domain"


async def test_a_domain_is_looked_up_and_used_from_then_on(database: DatabaseSettings) -> None:
    zone = Zone().says("mail.example.com", "A", "192.0.2.1")
    zone.says("links.example.com", "A", "192.0.2.1")
    async with serving(zone), open_pool(database) as pool, borrow(pool, database) as conn:
        settings = replace(
            settings_for(database),
            master_key=Secret(MASTER),
            tracking=TrackingSettings(URL),
            name_servers=(zone.server,),
        )
        key = await issue_key(conn, "default", "all", is_test=False)
        app = create_app(settings, pool, services=build_services(settings, pool))
        headers = {"X-API-Key": key.key.reveal()}
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(
            transport=transport, base_url=ORIGIN, headers=headers
        ) as http:
            without = await http.post(f"{PATH}/verify")
            await conn.execute(
                "UPDATE mailqueue.projects SET tracking_domain = 'links.example.com'"
            )
            before = await http.get(PATH)
            checked = await http.post(f"{PATH}/verify")
            after = await http.get(PATH)

    assert without.status_code == 409
    assert before.json() == {
        "links_begin_with": URL,
        "domain": "links.example.com",
        "verified_at": None,
    }
    assert (checked.status_code, checked.json()["leads_here"]) == (200, True)
    assert after.json()["links_begin_with"] == "https://links.example.com"
    assert after.json()["verified_at"] == checked.json()["verified_at"]
