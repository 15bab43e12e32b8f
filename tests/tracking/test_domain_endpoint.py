"""A project's tracking domain over HTTP."""

from dataclasses import replace

import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.pool import borrow, open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.wiring.api import build_services
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER, wired
from tests.domains.nameserver import Zone, serving

pytestmark = pytest.mark.anyio

URL = "https://mail.example.com"
KEYS = "/v1/tracking-keys"
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


async def test_keys_are_listed_replaced_and_revoked(database: DatabaseSettings) -> None:
    async with wired(database) as shop:
        first = (await shop.call("POST", f"{KEYS}/rotate")).json()["data"][0]["id"]
        both = (await shop.call("POST", f"{KEYS}/rotate")).json()["data"]
        assert [one["retired_at"] is None for one in both] == [True, False]
        assert (await shop.call("GET", KEYS)).json() == {"data": both, "next_cursor": None}

        for key, path in ((shop.other, first), (shop.key, "ffff"), (shop.key, "x")):
            gone = await shop.call("DELETE", f"{KEYS}/{path}", key=key)
            assert gone.status_code == 404
        assert (await shop.call("DELETE", f"{KEYS}/{first}", key=shop.reads)).status_code == 403
        done = await shop.call("DELETE", f"{KEYS}/{first}")

        assert (done.status_code, done.json()["id"]) == (200, first)
        assert done.json()["revoked_at"] is not None
        active = await shop.call("DELETE", f"{KEYS}/{both[0]['id']}")
        assert active.json()["revoked_at"] is not None
        left = (await shop.call("GET", KEYS)).json()["data"]
        assert [one["revoked_at"] is None for one in left] == [True, False, False]
