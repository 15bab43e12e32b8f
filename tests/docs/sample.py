"""A database with rows of every kind, for the documentation's queries."""

from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make

EXAMPLE = UUID("019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11")
"""The id in the documentation's examples: a mail that was refused temporarily."""
_HELD = UUID("019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a12")

_SETTLE = """
SELECT mailqueue.settle_emails(
    ARRAY[%s]::uuid[], ARRAY[%s]::bigint[], ARRAY[%s], ARRAY[%s], ARRAY[interval '1 min'],
    ARRAY[1], ARRAY[NULL]::integer[], ARRAY[%s], ARRAY['<x@example.com>'], ARRAY[NULL::text],
    ARRAY[%s], ARRAY[%s], ARRAY[%s], ARRAY[12], ARRAY[%s])
"""

# An extension that a server has only where it was preloaded; the pages show how to ask it.
_STATEMENTS = """
CREATE TEMP VIEW pg_stat_statements AS
SELECT 'SELECT mailqueue.enqueue($1)' AS query, 1::bigint AS calls, 1.0::float8 AS total_exec_time,
       1.0::float8 AS mean_exec_time, 1::bigint AS rows
"""


_ARCHIVED = """
INSERT INTO mailqueue.archives (
    project_id, kind, month, part, state, store, path, records, bytes, sha256, verified_at)
SELECT id, 'email_history', '2026-01-01', 1, 'archived', 'file:///srv/mailqueue/archive',
       'warm/x.jsonl.gz', 9, 999, 'x', now()
FROM mailqueue.projects WHERE name = 'default'
"""


_OUTBOX = """
INSERT INTO mailqueue.webhooks (id, project_id, url, sealed_secret)
SELECT mailqueue.uuidv7(), p.id, 'https://shop.example.com/hook', 'x'
FROM mailqueue.projects AS p WHERE p.name = 'default';
SELECT mailqueue.add_outbox(p.id, 'orders', 'webhook', w.id::text, 'sample')
FROM mailqueue.projects AS p JOIN mailqueue.webhooks AS w ON w.project_id = p.id
WHERE p.name = 'default'
"""


_TEMPLATE = """
SELECT mailqueue.publish_template(mailqueue.add_template_version(
    mailqueue.add_template(NULL, '{"slug": "welcome"}'),
    '{"texts": [{"language": "en", "subject": "Hello {{ name }}", "text_body": "Hello"}]}'))
"""


_SEQUENCE = """
SELECT mailqueue.put_sequence(p.id, 'onboarding',
           '{"steps": [{"name": "welcome", "template": "welcome"}]}', true),
       mailqueue.publish_sequence(p.id, 'onboarding')
FROM mailqueue.projects AS p WHERE p.name = 'default'
"""


async def fill(conn: Conn) -> None:
    """Make accounts, a worker, and mail in every status a reader may ask for."""
    await conn.execute(_TEMPLATE)
    await make.sender_account(conn, name="relay", daily_limit=1000)
    await make.sender_account(conn, name="second", status="paused", status_reason="on holiday")
    await conn.execute(_OUTBOX)
    await conn.execute(_SEQUENCE)
    await conn.execute("SELECT mailqueue.enroll('onboarding', 'eve@example.com')")
    worker = await make.worker(conn)
    order = Jsonb({"order": 81})
    await make.queued_email(conn, id=EXAMPLE, campaign_id="spring", priority=0, custom_data=order)
    sent = await make.queued_email(conn, priority=0, campaign_id="spring")
    failed = await make.queued_email(conn, priority=0, recipient_email="gone@example.com")
    claim_of = dict(await make.claimed(conn, worker))
    for email_id, *told in (
        (EXAMPLE, "retry", "4.3.0 try later", "deferred", "451", "4.3.0", "try later", False),
        (sent, "sent", None, "sent", "250", "2.0.0", "queued", False),
        (failed, "failed", "5.1.1 no such user", "bounced", "550", "5.1.1", "no such user", True),
    ):
        await conn.execute(_SETTLE, (email_id, claim_of[email_id], *told))
    await make.queued_email(conn, recipient_email="gone@example.com")  # suppressed at once
    await make.queued_email(conn, cc=["bob@example.com"], custom_data=order)
    await make.queued_email(conn, id=_HELD)
    await _hold(conn, _HELD)
    await make.queued_email(conn, sender="second", run_at="-infinity")
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second) VALUES ('example.net', 5)"
    )
    await conn.execute(_ARCHIVED)
    await _pause(conn, "autumn")
    await conn.execute("SELECT mailqueue.gather_lanes()")
    await make.claimed(conn, worker, limit=1)
    await conn.execute(_STATEMENTS.encode())
    await conn.execute("GRANT SELECT ON pg_stat_statements TO mailqueue_dba")


async def _pause(conn: Conn, campaign: str) -> None:
    await make.queued_email(conn, campaign_id=campaign)
    operation = await make.scalar(
        conn, "SELECT mailqueue.pause_sending('campaign', 'default', %s)", campaign
    )
    await conn.execute("SELECT mailqueue.continue_operation(%s, NULL, 100)", (operation,))


async def _hold(conn: Conn, email_id: UUID) -> None:
    project = await make.project_named(conn)
    await conn.execute(
        "SELECT mailqueue.hold_emails(%s, ARRAY[%s], 'wait for legal')", (project, email_id)
    )
