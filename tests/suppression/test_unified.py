"""Rows written before addresses were normalised are normalised by a migration."""

from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.claim.steps import claim

pytestmark = pytest.mark.anyio

FILE = Path(__file__).parents[2] / "sql" / "functions" / "upgrade" / "addresses.sql"
OLD = "ann@b\u00fccher.example"
NEW = "ann@xn--bcher-kva.example"
DISGUISED = "ann@bu\u0308cher\uff0eexample"
AS_MIGRATED = b"""
    ALTER TABLE mailqueue.suppressions DROP CONSTRAINT suppressions_address_check,
        ADD CONSTRAINT suppressions_address_check CHECK (address !~ '[A-Z]') NOT VALID
"""
TABLES = ("suppressions", "bounce_list", "unsubscribe_list", "domain_rates", "routing_rules")


async def unify(conn: Conn) -> None:
    await conn.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for table in TABLES:
        await conn.execute(f"ALTER TABLE mailqueue.{table} ENABLE TRIGGER USER".encode())
    await conn.execute(AS_MIGRATED)
    for _ in range(2):  # the second time there is nothing to do
        await conn.execute(FILE.read_bytes())


async def as_before(conn: Conn) -> None:
    """Allow rows with addresses that are not normalised."""
    for table in TABLES:
        await conn.execute(f"ALTER TABLE mailqueue.{table} DISABLE TRIGGER USER".encode())


async def test_of_two_spellings_of_a_suppression_the_one_that_lasts_longer_stays(
    conn: Conn,
) -> None:
    await as_before(conn)
    project = await make.project_named(conn)
    for n, (spelled, reason, until) in enumerate(
        [
            (OLD, "complaint", "infinity"),
            (NEW, "manual", "2099-01-01"),
            (DISGUISED, "hard_bounce", "2098-01-01"),
            (OLD.replace("ann", "bo"), "manual", "infinity"),
            ("cy@example.com", "manual", "infinity"),
        ]
    ):
        await conn.execute(
            "INSERT INTO mailqueue.suppressions (project_id, address, address_hash, reason,"
            " expires_at) VALUES (%s, %s, sha256(%s), %s, %s)",
            (project, spelled, bytes([n]), reason, until),
        )

    await unify(conn)

    assert await make.rows(
        conn,
        "SELECT address, reason, expires_at::text FROM mailqueue.suppressions ORDER BY address",
    ) == [
        (NEW, "complaint", "infinity"),
        (NEW.replace("ann", "bo"), "manual", "infinity"),
        ("cy@example.com", "manual", "infinity"),
    ]
    asked = (
        "SELECT address_hash = mailqueue.address_hash(project_id, address)"
        " FROM mailqueue.suppressions WHERE starts_with(address, 'bo@')"
    )
    assert await make.scalar(conn, asked)


async def test_lists_of_bounces_and_unsubscribes_are_joined(conn: Conn) -> None:
    await as_before(conn)
    project = await make.project_named(conn)
    for spelled, kind, count in ((OLD, "hard", 2), (NEW, "soft", 3), (DISGUISED, "soft", 1)):
        await conn.execute(
            "INSERT INTO mailqueue.bounce_list (project_id, project, email, bounce_type,"
            " bounce_count) VALUES (%s, NULL, %s, %s, %s)",
            (project, spelled, kind, count),
        )
    for spelled, category in ((OLD, "news"), (NEW, "news"), (DISGUISED, "news"), (OLD, "offers")):
        await conn.execute(
            "INSERT INTO mailqueue.unsubscribe_list (project_id, project, email, category)"
            " VALUES (%s, NULL, %s, %s)",
            (project, spelled, category),
        )

    await unify(conn)

    assert await make.rows(
        conn, "SELECT email, bounce_type, bounce_count FROM mailqueue.bounce_list"
    ) == [(NEW, "hard", 6)]
    assert await make.rows(
        conn, "SELECT email, category FROM mailqueue.unsubscribe_list ORDER BY category"
    ) == [(NEW, "news"), (NEW, "offers")]
    email_id = await make.queued_email(conn, recipient_email=OLD)
    assert await make.status_of(conn, email_id) == "suppressed"


async def test_of_two_spellings_of_a_choice_the_last_counts(conn: Conn) -> None:
    project = await make.project_named(conn)
    for n, (spelled, is_subscribed, day) in enumerate([(OLD, False, 2), (NEW, True, 1)]):
        await conn.execute(
            "INSERT INTO mailqueue.subscription_preferences (project_id, address_hash, category,"
            " address, is_subscribed, source, changed_at) VALUES (%s, CASE WHEN %s THEN"
            " mailqueue.address_hash(%s, %s) ELSE sha256(%s) END, 'news', %s, %s, 'page', %s)",
            (project, spelled == NEW, project, NEW, bytes([n]), spelled, is_subscribed,
             f"2026-01-0{day}"),
        )  # fmt: skip

    await unify(conn)

    assert await make.rows(
        conn,
        "SELECT address, is_subscribed, address_hash = mailqueue.address_hash(project_id, address)"
        " FROM mailqueue.subscription_preferences",
    ) == [(NEW, False, True)]


async def test_mail_is_brought_to_the_form_that_goes_out_unless_a_worker_holds_it(
    conn: Conn,
) -> None:
    """A worker reports each recipient by the spelling it was given."""
    await make.sender_account(conn)
    held = await make.queued_email(conn, cc=["cy@example.com"])
    await claim(conn, await make.worker(conn))
    waiting = await make.queued_email(conn, cc=["cy@example.com"])
    await conn.execute("UPDATE mailqueue.email_queue SET recipient_email = %s", (DISGUISED,))
    await conn.execute(
        "UPDATE mailqueue.email_recipients SET address = %s WHERE position = 0", (DISGUISED,)
    )

    await unify(conn)

    found = await make.rows(
        conn,
        "SELECT q.id, q.recipient_email, r.address FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.email_recipients AS r ON r.email_id = q.id AND r.position = 0",
    )
    assert sorted(found) == sorted([(held, DISGUISED, DISGUISED), (waiting, NEW, NEW)])


async def test_what_is_known_of_domains_is_brought_to_the_same_form(conn: Conn) -> None:
    await make.sender_account(conn, name="relay")
    mail = await make.queued_email(conn, recipient_email=OLD)
    await as_before(conn)
    project = await make.project_named(conn)
    await conn.execute(
        "INSERT INTO mailqueue.pauses (project_id, kind, value) VALUES (%s, 'domain', %s)",
        (project, "b\u00fccher.example"),
    )
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second) VALUES (%s, 3)",
        ("b\u00fccher.example",),
    )
    await conn.execute(
        "INSERT INTO mailqueue.routing_rules (project_id, position, domain, accounts)"
        " SELECT %s, 1, %s, array_agg(id) FROM mailqueue.sender_accounts WHERE name = 'relay'",
        (project, "*.b\u00fccher.example"),
    )
    await conn.execute(
        "UPDATE mailqueue.projects SET allowed_from = ARRAY[%s, %s, 'example.com'] WHERE id = %s",
        (OLD, "*.b\u00fccher.example", project),
    )

    await unify(conn)

    domain = "xn--bcher-kva.example"
    assert await make.scalar(conn, "SELECT value FROM mailqueue.pause_of(%s)", mail) == domain
    assert await make.rows(conn, "SELECT domain FROM mailqueue.domain_rates") == [(domain,)]
    assert await make.rows(
        conn, "SELECT domain FROM mailqueue.limits WHERE rate_per_second = 3"
    ) == [(domain,)]
    assert await make.rows(conn, "SELECT domain FROM mailqueue.routing_rules") == [(f"*.{domain}",)]
    asked = "SELECT allowed_from FROM mailqueue.projects WHERE id = %s"
    assert await make.scalar(conn, asked, project) == [NEW, f"*.{domain}", "example.com"]


async def test_history_is_read_through_once_only(conn: Conn) -> None:
    mail = await make.queued_email(conn)
    await conn.execute("UPDATE mailqueue.email_queue SET recipient_email = %s", (OLD,))

    await conn.execute(FILE.read_bytes())

    asked = "SELECT recipient_email FROM mailqueue.email_queue WHERE id = %s"
    assert await make.scalar(conn, asked, mail) == OLD
