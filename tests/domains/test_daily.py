"""Domains that keys sign for are looked up in DNS once a day, by the queue `domains`."""

from functools import partial

import pytest

from mailqueue.core.errors import Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import checking, keys, store
from mailqueue.domains.handler import DomainHandler
from mailqueue.domains.model import DkimKey
from mailqueue.domains.resolver import Resolver
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.domains.nameserver import Zone, serving
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio
MASTER = MasterKey(bytes(range(32)))
STATES = "SELECT dkim, spf, dmarc FROM mailqueue.domain_rechecks WHERE domain = %s"
WAIT = "SELECT status, round(extract(epoch FROM run_at - now()) / 3600)::int, attempts FROM "


@pytest.fixture
def database(fresh_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(fresh_db))


async def signing(conn: Conn, domain: str, zone: Zone, project: str = "default") -> DkimKey:
    """Create an active key of a domain whose records are in order, and make it due."""
    (key,) = await keys.create(
        conn, project, domain=domain, algorithms=[Algorithm.ED25519], master=MASTER, by="x"
    )
    await keys.activate(conn, [key], by="x", seen=True)
    zone.text(key.name, key.text).text(domain, "v=spf1 ip4:192.0.2.0/24 -all")
    zone.text(f"_dmarc.{domain}", f"v=DMARC1; p=reject; rua=mailto:d@{domain}")
    zone.says(domain, "MX", f"10 mail.{domain}.").says(f"mail.{domain}", "A", "192.0.2.1")
    await due(conn)
    return key


async def due(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.domain_rechecks SET run_at = now()")


async def states(conn: Conn, domain: str) -> tuple[str | None, ...]:
    ((*found,),) = await make.rows(conn, STATES, domain)
    return tuple(found)


async def waits(conn: Conn, domain: str) -> tuple[str, int, int]:
    """Return the status, the hours until the next check, and the attempts."""
    (found,) = await make.rows(conn, f"{WAIT} mailqueue.domain_rechecks WHERE domain = %s", domain)
    return found


async def health(conn: Conn) -> tuple[str, str, str | None]:
    query = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'domain records'"
    (found,) = await make.rows(conn, query)
    return found


async def gauge(conn: Conn, *labels: str) -> float:
    query = (
        "SELECT value FROM mailqueue.gauges()"
        " WHERE name = 'mailqueue_domain_records' AND labels = %s"
    )
    return float(await make.scalar(conn, query, list(labels)))


async def test_a_record_that_goes_missing_is_found_a_day_later_without_a_request(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        handler = DomainHandler(zone.resolver)
        key = await signing(conn, "example.com", zone)

        await work_once(database, "domains", handler)
        assert await states(conn, "example.com") == ("pass", "pass", "pass")
        assert await waits(conn, "example.com") == ("pending", 24, 0)
        assert (await health(conn))[0] == "ok"
        (listed,) = await keys.list_keys(conn, project="default")
        assert listed.records is not None
        assert listed.records.dmarc == "pass"

        zone.records.pop((key.name, "TXT"))
        await due(conn)
        await work_once(database, "domains", handler)

        assert await states(conn, "example.com") == ("fail", "pass", "pass")
        assert await gauge(conn, "dkim", "fail") == 1
        assert await gauge(conn, "spf", "pass") == 1
        assert await health(conn) == (
            "warning",
            "records in DNS are missing or wrong: DKIM of example.com (project default)",
            "mailqueue dkim check example.com --project default",
        )
        project_id = await make.project_named(conn)
        (check,) = await checking.last_checks(conn, project_id)
        assert not check.is_good


async def test_a_domain_whose_name_server_fails_stops_no_other_and_is_asked_again_in_an_hour(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        await signing(conn, "example.com", zone)
        await signing(conn, "broken.example", zone)
        zone.failing = {"broken.example", "_dmarc.broken.example"}

        await work_once(database, "domains", DomainHandler(zone.resolver))

        assert await states(conn, "broken.example") == ("pass", "unknown", "unknown")
        assert await waits(conn, "broken.example") == ("pending", 1, 0)
        assert await states(conn, "example.com") == ("pass", "pass", "pass")
        assert (await health(conn))[0] == "ok"
        assert await gauge(conn, "dmarc", "unknown") == 1


async def test_a_record_with_a_byte_that_no_column_holds_is_found_wrong(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        key = await signing(conn, "example.com", zone)
        zone.records.pop((key.name, "TXT"))
        zone.says(key.name, "TXT", r'"v=DKIM1; p=\000"')

        await work_once(database, "domains", DomainHandler(zone.resolver))

        assert await states(conn, "example.com") == ("fail", "pass", "pass")
        assert await waits(conn, "example.com") == ("pending", 24, 0)


async def test_keys_that_were_revoked_before_they_had_a_record_are_not_looked_up(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        key = await signing(conn, "example.com", zone)
        await conn.execute(
            "INSERT INTO mailqueue.dkim_keys SELECT (jsonb_populate_record(k, jsonb_build_object("
            " 'id', mailqueue.uuidv7(), 'selector', 'r' || n, 'status', 'revoked',"
            " 'private_key', NULL, 'revoked_at', now(),"
            " 'seen_at', CASE WHEN n = 1 THEN now() END))).*"
            " FROM mailqueue.dkim_keys AS k, generate_series(1, 3) AS n WHERE k.id = %s",
            (key.id,),
        )
        project_id = await make.project_named(conn)
        found = await store.list_keys_of(conn, [(project_id, "example.com")])

    assert {one.selector for one in found} == {key.selector, "r1"}


async def test_lookups_without_end_are_given_up_and_count_no_attempt(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        await signing(conn, "example.com", zone)
        zone.silent = {"example.com"}

        await work_once(database, "domains", DomainHandler(zone.resolver, all_s=0.0))

        assert await states(conn, "example.com") == ("unknown", "unknown", "unknown")
        assert await waits(conn, "example.com") == ("pending", 1, 0)


async def test_a_host_without_name_servers_waits_and_its_worker_goes_on(
    database: DatabaseSettings,
) -> None:
    def none() -> Resolver:
        raise Unavailable("no DNS server is configured on this host")

    async with serving(Zone()) as zone, connect(database) as conn:
        await signing(conn, "example.com", zone)
        await work_once(database, "domains", DomainHandler(none))

        assert await states(conn, "example.com") == (None, None, None)
        assert await waits(conn, "example.com") == ("pending", 1, 0)


async def test_a_domain_is_not_asked_about_before_a_key_signs_for_it_nor_after(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        handler = DomainHandler(zone.resolver)
        await keys.create(
            conn, "default", domain="new.example", algorithms=[Algorithm.RSA], master=MASTER, by="x"
        )
        await due(conn)
        await work_once(database, "domains", handler)
        assert zone.asked == []
        assert await waits(conn, "new.example") == ("pending", 24, 0)

        key = await signing(conn, "example.com", zone)
        zone.records.pop((key.name, "TXT"))
        await work_once(database, "domains", handler)
        assert (await health(conn))[0] == "warning"
        await keys.revoke(conn, "default", domain="example.com", selector=key.selector, by="x")
        await due(conn)
        await work_once(database, "domains", handler)

        assert await states(conn, "example.com") == (None, None, None)
        assert (await health(conn))[0] == "ok"


async def test_a_successor_whose_record_is_not_there_yet_fails_no_domain(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        await signing(conn, "example.com", zone)
        await keys.rotate(conn, "default", domain="example.com", master=MASTER, by="x")

        await work_once(database, "domains", DomainHandler(zone.resolver))

        assert await states(conn, "example.com") == ("pass", "pass", "pass")
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.domain_rechecks") == 1


async def test_a_check_that_a_person_asks_for_is_the_newest(database: DatabaseSettings) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        key = await signing(conn, "example.com", zone)
        missing = zone.records.pop((key.name, "TXT"))
        await work_once(database, "domains", DomainHandler(zone.resolver))
        assert await states(conn, "example.com") == ("fail", "pass", "pass")

        zone.records[key.name, "TXT"] = missing
        ask = partial(checking.check, conn, "default", resolver=zone.resolver())
        await ask(domain="example.com")
        await ask(domain="unsigned.example")

        assert await states(conn, "example.com") == ("pass", "pass", "pass")
        assert (await health(conn))[0] == "ok"


async def test_one_domain_of_two_projects_has_the_state_of_each(
    database: DatabaseSettings,
) -> None:
    async with serving(Zone()) as zone, connect(database) as conn:
        await make.project(conn, "shop")
        await signing(conn, "example.com", zone)
        await signing(conn, "example.com", zone, "shop")  # its record replaces that of the first

        await work_once(database, "domains", DomainHandler(zone.resolver))

        found = {
            key.project: None if key.records is None else key.records.dkim
            for key in await keys.list_keys(conn)
        }
        assert found == {"default": "fail", "shop": "pass"}
