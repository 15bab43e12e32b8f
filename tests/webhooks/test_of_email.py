"""What webhooks were told of one email: all of it, of no other project, and by index."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.webhooks import deliveries
from tests import make
from tests.operations.test_view_plans import pages_read
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio

MANY = """
INSERT INTO mailqueue.webhook_deliveries (id, project_id, webhook_id, event_id, type)
SELECT gen_random_uuid(), d.project_id, d.webhook_id, gen_random_uuid(), d.type
  FROM mailqueue.webhook_deliveries AS d, generate_series(1, 20000) AS n
 WHERE d.id = (SELECT min(x.id::text)::uuid FROM mailqueue.webhook_deliveries AS x)
"""


async def deliveries_of(conn: Conn, email: UUID) -> list[tuple[str, str]]:
    project = await make.project_named(conn)
    found = await deliveries.list_of_email(conn, project, email)
    return [(each.url, each.type) for each in found]


async def test_each_delivery_of_each_event_is_listed(conn: Conn) -> None:
    for name in ("a", "b"):
        await webhook(conn, f"http://127.0.0.1/{name}")
    email, other = await make.queued_emails(conn, 2)
    await told(conn, email_id=email)
    await told(conn, kind="hard_bounce", email_id=email)
    await told(conn, email_id=other)

    found = await deliveries_of(conn, email)

    urls = {url for url, _ in found}
    assert urls == {"http://127.0.0.1/a", "http://127.0.0.1/b"}
    assert len(found) == len(set(found)) == 6  # queued, too
    shop = await make.project(conn, "shop")
    assert await deliveries.list_of_email(conn, shop, email) == []


async def test_a_long_log_is_not_read_for_one_email(conn: Conn) -> None:
    await webhook(conn, "http://127.0.0.1/a")
    [email] = await make.queued_emails(conn, 1)
    await told(conn, email_id=email)
    await conn.execute(MANY.encode())
    project = await make.project_named(conn)
    query = f"SELECT * FROM mailqueue.deliveries_of_email('{project}', '{email}')"
    assert len(await make.rows(conn, query)) == 2

    read = await pages_read(conn, query)
    assert read < 100, read
