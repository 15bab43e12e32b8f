"""Networks that are stored with an unsubscribe."""

from collections.abc import AsyncIterator
from uuid import uuid4

import httpx2
import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.tokens import TokenKind
from tests import make
from tests.api.support.calling import ORIGIN
from tests.api.support.recipient_links import ONE_CLICK, Leaving, leaving

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        await made.category("news")
        yield made


def somebody() -> str:
    return f"{uuid4().hex[:12]}@example.com"


def seen_from(shop: Leaving, address: str) -> httpx2.AsyncClient:
    """Return a client whose connections come from an IP address."""
    transport = httpx2.ASGITransport(app=shop.app, client=(address, 50000))
    return httpx2.AsyncClient(transport=transport, base_url=ORIGIN)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("fe80::1%eth0", "fe80::/48"),
        ("unix", None),
    ],
)
@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (TokenKind.UNSUBSCRIBE, ONE_CLICK),
        (TokenKind.UNSUBSCRIBE, {"action": "unsubscribe", "scope": "all"}),
        (TokenKind.PREFERENCES, {"category.news": "off"}),
    ],
    ids=["button", "page", "preferences"],
)
async def test_the_network_of_the_client_is_stored_without_its_host(
    shop: Leaving,
    address: str,
    network: str | None,
    kind: TokenKind,
    form: dict[str, str],
) -> None:
    who = somebody()
    link = await shop.link(await shop.mail(who, "news"), kind)

    async with seen_from(shop, address) as http:
        answer = await http.post(link, data=form)

    assert answer.status_code == 200
    kept = await make.rows(
        shop.conn,
        "SELECT DISTINCT ip_address::text FROM mailqueue.unsubscribe_list WHERE email = %s",
        who,
    )
    assert kept == [(network,)]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("198.51.100.9", "198.51.100.0/24"),
        ("198.51.0.0/16", "198.51.0.0/16"),
        ("2001:db8:1:2::9", "2001:db8:1::/48"),
        (None, None),
    ],
)
async def test_an_inserted_address_is_stored_as_its_network(
    shop: Leaving, given: str | None, kept: str | None
) -> None:
    who = somebody()
    await shop.conn.execute(
        "INSERT INTO mailqueue.unsubscribe_list (project, email, ip_address)"
        " VALUES ('shop', %s, %s)",
        (who, given),
    )

    found = await make.scalar(
        shop.conn,
        "SELECT ip_address::text FROM mailqueue.unsubscribe_list WHERE email = %s",
        who,
    )
    assert found == kept
