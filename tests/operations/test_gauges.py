"""What monitoring reads of keys, domains and archiving before something ends."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio


async def gauge(conn: Conn, name: str, *labels: str) -> float | None:
    """Return a figure; None where there is none."""
    cursor = await conn.execute(
        "SELECT value FROM mailqueue.gauges() WHERE name = %s AND labels = %s", (name, list(labels))
    )
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def test_keys_that_end_soon_are_counted_unless_they_were_replaced(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.api_keys"
        " (project_id, name, key_hash, hint, is_test, expires_at, revoked_at, rotated_at)"
        " SELECT %s, n, sha256(n::bytea), n, false, now() + days * interval '1 day',"
        "        CASE n WHEN 'revoked' THEN now() END, CASE n WHEN 'rotated' THEN now() END"
        "   FROM (VALUES ('soon', 13), ('later', 15), ('over', -1), ('revoked', 3), ('rotated', 3))"
        "     AS k (n, days)",
        (project,),
    )
    await conn.execute(
        "INSERT INTO mailqueue.administrators (name, token_hash, hint, created_by, expires_at)"
        " VALUES ('ann', '\\x01', 'a', 'ben', now() + interval '1 day')"
    )

    assert await gauge(conn, "mailqueue_expiring_keys", "api") == 1
    assert await gauge(conn, "mailqueue_expiring_keys", "administrator") == 1


async def test_the_last_check_of_each_domain_counts(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.domain_checks (project_id, domain, is_good, findings, checked_at)"
        " SELECT %s, domain, is_good, '[]', now() - days * interval '1 day'"
        "   FROM (VALUES ('mended.example', false, 2), ('mended.example', true, 1),"
        "                ('broken.example', true, 2), ('broken.example', false, 1),"
        "                ('old.example', false, 40)) AS c (domain, is_good, days)",
        (project,),
    )

    assert await gauge(conn, "mailqueue_failing_domains") == 1


async def test_the_age_of_the_archive_is_shown_where_there_is_one(conn: Conn) -> None:
    mode: str = await make.scalar(conn, "SELECT current_setting('archive_mode')")
    found = await gauge(conn, "mailqueue_wal_archive_age_seconds")

    assert (found is None) == (mode == "off")
