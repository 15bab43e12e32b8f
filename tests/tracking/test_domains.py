"""A project's tracking domain is used for links once its DNS leads here."""

from uuid import uuid4

import pytest

from mailqueue.contract.domains import TrackingDomainCheck
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.maintenance.store import files as files_store
from mailqueue.mime.skeleton import MessageContent
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.tracking import domains, store
from mailqueue.tracking.injector import TrackingInjector, UntrackedMail
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.model import TrackedLink
from mailqueue.tracking.pattern import InjectionContext, TrackingOptions
from tests import make
from tests.domains.nameserver import Zone, serving
from tests.vault.sealed import FIRST

pytestmark = pytest.mark.anyio

URL = "https://mail.example.com"
HERE = ("192.0.2.1", "192.0.2.2")


async def checked(conn: Conn, zone: Zone, *, url: str | None = URL) -> TrackingDomainCheck:
    async with serving(zone):
        found = await domains.project_of(conn, "shop")
        check = await domains.look_up(found, public_url=url, resolver=zone.resolver())
        return await domains.noted(conn, found, check)


async def base(conn: Conn) -> str | None:
    """Return the base URL of the links in the project's mail."""
    project_id = await make.project_named(conn, "shop")
    injector = TrackingInjector(Keyring(lambda: FIRST), TrackingSettings(URL))
    context = (await injector.contexts(conn, [project_id]))[project_id]
    assert isinstance(context, InjectionContext)
    return context.base


async def test_links_use_the_domain_once_it_leads_here_and_not_before(conn: Conn) -> None:
    await make.project(conn, "shop", tracking_domain="links.example.com")
    assert await base(conn) == URL
    zone = Zone().says("mail.example.com", "A", *HERE).says("links.example.com", "A", HERE[0])

    check = await checked(conn, zone)

    assert (check.leads_here, check.found, check.wanted) == (True, (HERE[0],), HERE)
    assert check.verified_at is not None
    assert await base(conn) == "https://links.example.com"


@pytest.mark.parametrize("addresses", [(), ("198.51.100.1",), (HERE[0], "198.51.100.1")])
async def test_a_domain_that_leads_elsewhere_is_used_no_more(
    conn: Conn, addresses: tuple[str, ...]
) -> None:
    await make.project(conn, "shop", tracking_domain="links.example.com")
    await conn.execute("UPDATE mailqueue.projects SET tracking_checked_at = now()")
    zone = Zone().says("mail.example.com", "A", *HERE)
    if addresses:
        zone.says("links.example.com", "A", *addresses)

    check = await checked(conn, zone)

    assert (check.leads_here, check.verified_at) == (False, None)
    assert check.publish == "links.example.com. IN CNAME mail.example.com."
    assert await base(conn) == URL


async def test_without_an_answer_of_dns_nothing_changes(conn: Conn) -> None:
    await make.project(conn, "shop", tracking_domain="links.example.com")
    await conn.execute("UPDATE mailqueue.projects SET tracking_checked_at = now()")

    check = await checked(conn, Zone(failing={"links.example.com"}))

    assert check.leads_here is None
    assert check.verified_at is not None
    assert await base(conn) == "https://links.example.com"


async def test_another_domain_has_to_be_looked_up_first(conn: Conn) -> None:
    await make.project(conn, "shop", tracking_domain="links.example.com")
    await conn.execute("UPDATE mailqueue.projects SET tracking_checked_at = now()")
    changed = "SELECT mailqueue.change_project('shop', '{\"tracking_domain\": \"go.example.com\"}')"
    await conn.execute(changed.encode())

    assert await base(conn) == URL


async def test_an_installation_at_an_address_is_led_to_by_an_address(conn: Conn) -> None:
    await make.project(conn, "shop", tracking_domain="links.example.com")
    zone = Zone().says("links.example.com", "A", "127.0.0.1")

    check = await checked(conn, zone, url="http://127.0.0.1:8025")

    assert check.leads_here
    assert check.publish == "links.example.com. IN A 127.0.0.1"


async def test_what_is_missing_is_said(conn: Conn) -> None:
    with pytest.raises(NotFound):
        await domains.project_of(conn, "nobody")
    await make.project(conn, "shop")
    with pytest.raises(Conflict, match="--tracking-domain"):
        await checked(conn, Zone())
    await conn.execute("UPDATE mailqueue.projects SET tracking_domain = 'links.example.com'")
    with pytest.raises(Conflict, match="MAILQUEUE_PUBLIC_URL"):
        await checked(conn, Zone(), url=None)


@pytest.mark.parametrize(
    ("domain", "why"),
    [("localhost", "a name such as"), ("bücher.example", "ASCII"), ("a b.example", "a name")],
)
async def test_a_name_that_no_link_can_have_is_refused(conn: Conn, domain: str, why: str) -> None:
    await make.project(conn, "shop")
    with pytest.raises(Exception, match=why):
        await conn.execute(
            "SELECT mailqueue.change_project('shop',"
            " jsonb_build_object('tracking_domain', %s::text))",
            (domain,),
        )


async def test_what_mail_goes_without_is_told_by_health(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    injector = TrackingInjector(Keyring(lambda: FIRST), TrackingSettings(None))
    contexts = {
        key: context
        for key, context in (await injector.contexts(conn, [shop])).items()
        if isinstance(context, InjectionContext)
    }
    wants = TrackingOptions(opens=True, unsubscribe=True, is_marketing=True)
    mails = [
        UntrackedMail(uuid4(), shop, wants, MessageContent("x", "<p>x</p>", None)) for _ in range(3)
    ]

    await injector.inject(conn, mails, contexts)
    await injector.inject(conn, mails[:1], contexts)

    told = {
        name: (state, found, fix)
        for name, state, found, fix in await make.rows(conn, "SELECT * FROM mailqueue.health")
        if name in ("unsubscribe", "tracking", "postal address")
    }
    assert {state for state, _, _ in told.values()} == {"warning"}
    assert told["unsubscribe"][1] == "marketing without an unsubscribe link: 4 of shop"
    assert "MAILQUEUE_PUBLIC_URL" in told["tracking"][2]
    assert "--postal-address" in told["postal address"][2]


async def test_health_is_fine_where_nothing_is_missing(conn: Conn) -> None:
    shop = await make.project(conn, "shop", postal_address="1 High Street")
    injector = TrackingInjector(Keyring(lambda: FIRST), TrackingSettings(URL))
    contexts = {
        key: context
        for key, context in (await injector.contexts(conn, [shop])).items()
        if isinstance(context, InjectionContext)
    }
    wants = TrackingOptions(opens=True, unsubscribe=True, is_marketing=True)

    await injector.inject(
        conn, [UntrackedMail(uuid4(), shop, wants, MessageContent("x", "y", None))], contexts
    )

    query = (
        "SELECT DISTINCT state FROM mailqueue.health"
        " WHERE name IN ('unsubscribe', 'tracking', 'postal address')"
    )
    assert await make.rows(conn, query) == [("ok",)]


async def test_links_no_mail_has_named_for_two_years_are_forgotten(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    for number, days in enumerate((0, 729, 731)):
        await conn.execute(
            "INSERT INTO mailqueue.tracked_links (project_id, link, url, used_on)"
            " VALUES (%s, %s, 'https://example.com/', current_date - %s::integer)",
            (shop, bytes([number]) * 12, days),
        )

    assert await files_store.sweep_tracked_links(conn) == 1
    assert await files_store.sweep_tracked_links(conn) == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.tracked_links") == 2


async def test_a_link_that_goes_on_being_sent_is_kept(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    link = TrackedLink(shop, bytes(12), "https://example.com/")
    await store.keep_links(conn, [link])
    await conn.execute("UPDATE mailqueue.tracked_links SET used_on = current_date - 800")

    await store.keep_links(conn, [link])

    assert await files_store.sweep_tracked_links(conn) == 0
