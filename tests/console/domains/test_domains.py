"""Domains in the console: added, published, checked, ready; their keys replaced and destroyed."""

import re
from collections.abc import AsyncIterator
from html import unescape

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.wired import MASTER
from tests.console.visiting import Visiting, Visitor, visiting
from tests.domains.nameserver import Zone, serving

pytestmark = pytest.mark.anyio

DOMAINS = "/console/projects/default/domains"
SHOP = f"{DOMAINS}/shop.example"
_RECORD = re.compile(r'data-copy="([^"]*)"')


@pytest.fixture
async def zone() -> AsyncIterator[Zone]:
    async with serving(Zone()) as served:
        yield served


@pytest.fixture
async def console(database: DatabaseSettings, zone: Zone) -> AsyncIterator[Visiting]:
    async with visiting(database, master_key=Secret(MASTER), resolver=(zone.server,)) as made:
        yield made


async def logged_in(console: Visiting, visitor: Visitor, role: str = "project_admin") -> None:
    await console.add_user(role, role, "default")
    assert (await visitor.log_in(role)).status_code == 303


async def added(visitor: Visitor, algorithm: str = "ed25519") -> tuple[str, str]:
    """Add the domain by the form; return name and text of the record to publish."""
    new = f"{DOMAINS}/new"
    done = await visitor.submit(new, new, domain="Shop.example", algorithm=algorithm)
    assert done.headers["location"].startswith(SHOP), done.text
    page = (await visitor.get(SHOP)).text
    name, text = (unescape(each) for each in _RECORD.findall(page))
    return name, text


async def checked(visitor: Visitor) -> str:
    done = await visitor.submit(SHOP, f"{SHOP}/check")
    return (await visitor.get(done.headers["location"])).text


async def test_a_domain_is_ready_once_all_its_records_are_published(
    console: Visiting, zone: Zone
) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        empty = (await visitor.get(DOMAINS)).text
        name, text = await added(visitor)
        unchecked = (await visitor.get(DOMAINS)).text
        missing = await checked(visitor)
        zone.text(name, text).text("shop.example", "v=spf1 ip4:192.0.2.1 -all")
        zone.text("_dmarc.shop.example", "v=DMARC1; p=none; rua=mailto:d@shop.example")
        zone.says("shop.example", "MX", "10 mx.shop.example.")
        zone.says("mx.shop.example", "A", "192.0.2.1")
        ready = await checked(visitor)
        listed = (await visitor.get(DOMAINS)).text

    assert "No domain yet" in empty
    assert "not checked yet" in unchecked
    assert "records are missing" in missing
    assert "missing or wrong" in missing
    assert "ready to send" in ready
    assert '<span class="pill good">active</span>' in ready
    assert "ready to send" in listed


async def test_the_domains_of_from_addresses_stand_there_too(console: Visiting) -> None:
    async with console.connection() as conn:
        wanted = '{"from_email": "news@mail.example.com"}'
        await conn.execute("SELECT mailqueue.change_project('default', %s, 'tests')", (wanted,))
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        page = (await visitor.get(DOMAINS)).text
        one = await visitor.get(f"{DOMAINS}/mail.example.com")
        refused = [
            (await visitor.get(path)).status_code
            for path in (f"{DOMAINS}/new", f"{DOMAINS}/mail.example.com/rotate")
        ]
        unknown = await visitor.get(f"{DOMAINS}/other.example.com")
        hostile = await visitor.get(f"{DOMAINS}/%3Cscript%3E%00")

    assert "mail.example.com" in page
    assert "no key" in page
    assert "Check now" not in one.text
    assert refused == [403, 403]
    assert (unknown.status_code, hostile.status_code) == (404, 404)
    assert "<script>\0" not in hostile.text


async def test_errors_stand_at_the_field(console: Visiting) -> None:
    new = f"{DOMAINS}/new"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        await added(visitor)
        for fields, field, why in (
            ({"domain": "no domain", "algorithm": "rsa"}, "domain", "is not the domain"),
            ({"domain": "shop.example", "algorithm": "dsa"}, "algorithm", "one of those shown"),
            ({"domain": "shop.example", "algorithm": "ed25519"}, "domain", "has a key of this"),
            ({"domain": "x" * 300 + ".com", "algorithm": "rsa"}, "domain", "is not the domain"),
        ):
            response = await visitor.submit(new, new, **fields)
            assert response.status_code == 422, fields
            fault = re.search(rf'id="fault-{field}">([^<]*)', response.text)
            assert fault is not None, fields
            assert why in unescape(fault[1])


async def test_keys_are_replaced_without_a_gap_and_destroyed(console: Visiting, zone: Zone) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        name, text = await added(visitor)
        zone.text(name, text)
        await checked(visitor)
        await visitor.submit(f"{SHOP}/rotate", f"{SHOP}/rotate")
        both = (await visitor.get(SHOP)).text
        again = await visitor.get(f"{SHOP}/rotate")
        refused = await visitor.submit(f"{SHOP}/rotate", f"{SHOP}/rotate")
        async with console.connection() as conn:
            key_id = await make.scalar(
                conn, "SELECT id FROM mailqueue.dkim_keys WHERE status = 'pending'"
            )
        path = f"{SHOP}/keys/{key_id}/revoke"
        await visitor.submit(path, path)
        after = (await visitor.get(SHOP)).text
        gone = await visitor.get(path)
        elsewhere = await visitor.get(f"{DOMAINS}/other.example/keys/{key_id}/revoke")
    async with console.connection() as conn:
        actions = await make.rows(
            conn,
            "SELECT action, actor FROM mailqueue.audit_events WHERE action LIKE 'dkim.%%'"
            " ORDER BY id",
        )

    assert '<span class="pill good">active</span>' in both
    assert '<span class="pill poor">pending</span>' in both
    assert again.status_code == 200
    assert refused.status_code == 409
    assert "pending" not in after.partition("DKIM keys")[2]
    assert (gone.status_code, elsewhere.status_code) == (404, 404)
    assert [action for action, _ in actions][-1] == "dkim.revoked"
    assert all("project_admin (console)" in actor for _, actor in actions)


async def test_a_check_without_an_answer_says_so(console: Visiting, zone: Zone) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        name, _ = await added(visitor)
        zone.failing |= {name, "shop.example", "_dmarc.shop.example"}
        page = await checked(visitor)

    assert "no answer" in page
    assert "records are missing" in page
