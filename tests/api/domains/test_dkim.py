"""DKIM keys over HTTP: created, published, verified, replaced, revoked; and the DNS of a domain."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.domains.signing import signers_of
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import parse_master_key
from tests import make
from tests.api.support.calling import error_of
from tests.api.support.wired import MASTER, Wired, wired
from tests.domains.nameserver import Zone, serving

pytestmark = pytest.mark.anyio

PATH = "/v1/dkim"
KEY: dict[str, Any] = {"domain": "Shop.example", "algorithm": "ed25519"}


@pytest.fixture(scope="module")
async def zone() -> AsyncIterator[Zone]:
    async with serving(Zone()) as served:
        yield served


@pytest.fixture(scope="module")
async def shop(module_db: str, zone: Zone) -> AsyncIterator[Wired]:
    async with wired(DatabaseSettings(Secret(module_db)), name_servers=(zone.server,)) as made:
        yield made


async def signs(shop: Wired, domain: str) -> bool:
    async with connect(shop.database) as conn:
        project_id = await make.project_named(conn, "shop")
        master = parse_master_key(MASTER, source="tests")
        signers = await signers_of(conn, project_id, read_master=lambda: master)
        return signers.of(domain) is not None


async def test_a_key_signs_once_its_record_is_seen_and_no_more_once_revoked(
    shop: Wired, zone: Zone
) -> None:
    made = await shop.call("POST", PATH, KEY)
    assert made.status_code == 201, made.text
    key = made.json()
    path = f"{PATH}/{key['id']}"
    assert (key["domain"], key["status"], key["verified"]) == ("shop.example", "pending", False)
    assert key["dns_name"] == f"{key['selector']}._domainkey.shop.example"
    assert "".join(key["dns_strings"]) == key["dns_txt_record"]
    assert (await shop.call("GET", path)).json() == key
    assert (await shop.call("GET", f"{PATH}?domain=SHOP.example")).json()["data"] == [key]

    missing = (await shop.call("POST", f"{path}/verify")).json()
    assert (missing["in_dns"], missing["key"]["status"]) == ("missing", "pending")
    assert not await signs(shop, "shop.example")
    zone.text(key["dns_name"], key["dns_txt_record"])
    found = (await shop.call("POST", f"{path}/verify")).json()
    assert (found["in_dns"], found["key"]["status"]) == ("published", "active")
    assert await signs(shop, "shop.example")

    twice = await shop.call("POST", PATH, KEY)
    assert (twice.status_code, error_of(twice)["name"]) == (409, "conflict")
    successor = await shop.call("POST", f"{path}/rotate")
    assert [each["status"] for each in successor.json()["data"]] == ["pending"]
    gone = (await shop.call("DELETE", path)).json()
    assert (gone["status"], gone["dns_txt_record"].endswith("p=")) == ("revoked", True)
    assert not await signs(shop, "shop.example")
    async with connect(shop.database) as conn:
        private = "SELECT private_key FROM mailqueue.dkim_keys WHERE status = 'revoked'"
        assert await make.rows(conn, private) == [(None,)]


async def test_a_domain_is_looked_at_as_receivers_do(shop: Wired, zone: Zone) -> None:
    zone.text("looked.example", "v=spf1 ip4:192.0.2.1 -all")

    report = (await shop.call("GET", f"{PATH}/check?domain=looked.example&ip=192.0.2.1")).json()

    by_topic = {each["topic"]: each["status"] for each in report["findings"]}
    assert (by_topic["SPF"], by_topic["DKIM"], report["is_good"]) == ("pass", "fail", False)
    async with connect(shop.database) as conn:
        kept = "SELECT count(*) FROM mailqueue.domain_checks WHERE domain = 'looked.example'"
        assert await make.scalar(conn, kept) == 1


async def test_a_key_shows_what_the_newest_check_of_its_domain_found(
    shop: Wired, zone: Zone
) -> None:
    key = (await shop.call("POST", PATH, KEY | {"domain": "seen.example"})).json()
    path = f"{PATH}/{key['id']}"
    zone.text(key["dns_name"], key["dns_txt_record"])
    found = (await shop.call("POST", f"{path}/verify")).json()
    assert found["key"]["domain_records"] is None

    await shop.call("GET", f"{PATH}/check?domain=seen.example")

    records = (await shop.call("GET", path)).json()["domain_records"]
    assert records.pop("checked_at")
    assert records == {"dkim": "pass", "spf": "fail", "dmarc": "fail"}


async def test_what_is_wrong_is_named(shop: Wired) -> None:
    for body, field in (
        ({}, "domain"),
        ({"domain": "no domain"}, "domain"),
        ({"domain": "a.example", "algorithm": "dsa"}, "algorithm"),
        ({"domain": "a.example", "selector": "Not One"}, "selector"),
    ):
        refused = await shop.call("POST", PATH, body)
        assert (refused.status_code, error_of(refused)["field"]) == (422, field)
    for query, field in (("domain=x", "domain"), ("domain=a.example&ip=x", "ip"), ("", "domain")):
        refused = await shop.call("GET", f"{PATH}/check?{query}")
        assert (refused.status_code, error_of(refused)["field"]) == (422, field)


async def test_others_and_readers_are_kept_out(shop: Wired) -> None:
    key = (await shop.call("POST", PATH, KEY | {"domain": "mine.example"})).json()
    path = f"{PATH}/{key['id']}"

    assert (await shop.call("GET", PATH, key=shop.other)).json()["data"] == []
    for method, there in (("GET", ""), ("POST", "/verify"), ("POST", "/rotate"), ("DELETE", "")):
        assert (await shop.call(method, f"{path}{there}", key=shop.other)).status_code == 404
        reader = await shop.call(method, f"{path}{there}", key=shop.reads)
        assert reader.status_code == (200 if method == "GET" else 403)
    for odd in (str(uuid4()), "x"):
        assert (await shop.call("GET", f"{PATH}/{odd}")).status_code == 404
