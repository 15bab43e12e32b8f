"""Each task runs in one process at a time, and reports its result in a line."""

from datetime import timedelta

import pytest

from mailqueue.admin import infrastructure
from mailqueue.core.errors import ConfigError, Conflict
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.maintenance import counters, keys, retention, statistics, tasks, warm_up
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Task, TaskResult, WarmUp
from mailqueue.settings.environment import DatabaseSettings, Pooler
from mailqueue.wiring.files import ArchiveStores
from tests import make
from tests.maintenance import stored_mail
from tests.maintenance.old_mail import old, sent

pytestmark = pytest.mark.anyio


async def run(desk: MaintenanceContext, *wanted: Task) -> list[TaskResult]:
    return await tasks.run(desk, wanted or list(Task), tell=lambda _: None)


async def test_all_tasks_on_a_database_in_use_need_no_attention(desk: MaintenanceContext) -> None:
    await old(desk.conn, 5)
    await sent(desk.conn, 3)

    done = await run(desk)

    assert [each.task for each in done] == list(Task)
    assert [each.report.needs for each in done] == [()] * len(Task)
    assert await stored_mail.differences(desk.conn) == []


async def test_the_end_and_the_length_of_a_run_are_kept(desk: MaintenanceContext) -> None:
    await run(desk, Task.KEYS)
    found = {each.task: each for each in await infrastructure.tasks(desk.conn)}

    ran, other = found[Task.KEYS], found[Task.ANALYZE]
    assert ran.last_run_at is not None
    assert ran.last_seconds is not None
    assert 0 <= ran.last_seconds < 60
    assert (other.last_run_at, other.last_seconds) == (None, None)


async def test_two_hosts_at_once_do_a_task_once(
    desk: MaintenanceContext, database: DatabaseSettings, stores: ArchiveStores
) -> None:
    async with tasks.open_context(
        database, stores, operator="other host", advance=lambda _: None
    ) as other:
        async with tasks.locked(other, Task.ARCHIVE):
            [archive, analyze] = await run(desk, Task.ARCHIVE, Task.ANALYZE)
            with pytest.raises(Conflict):
                async with tasks.locked(desk, Task.ARCHIVE):
                    pass
        [later] = await run(desk, Task.ARCHIVE)

    assert (archive.is_busy, analyze.is_busy, later.is_busy) == (True, False, False)
    assert not archive.needs_person


async def test_a_pooler_that_shares_sessions_is_refused(
    database: DatabaseSettings, stores: ArchiveStores
) -> None:
    pooled = DatabaseSettings(database.url, pooler=Pooler.TRANSACTION)

    with pytest.raises(ConfigError, match="MAILQUEUE_DIRECT_URL"):
        async with tasks.open_context(pooled, stores, operator="x", advance=lambda _: None):
            pass


async def test_counters_of_a_day_that_is_over_are_set_to_a_new_day(
    desk: MaintenanceContext,
) -> None:
    await sent(desk.conn, 3)
    await desk.conn.execute("UPDATE mailqueue.limit_counters SET day = day - 1")

    report = await counters.run(desk)

    assert report.counts["days"] == 2  # of the account and of the project
    days = "SELECT sum(daily_sent), max(day) = current_date FROM mailqueue.sender_headroom"
    assert await make.rows(desk.conn, days) == [(0, True)]
    assert await make.scalar(desk.conn, "SELECT max(sent) FROM mailqueue.limit_days") >= 3


async def test_signals_are_gathered_where_no_worker_comes_by(desk: MaintenanceContext) -> None:
    await make.queued_emails(desk.conn, 3)

    await counters.run(desk)

    assert await make.scalar(desk.conn, "SELECT sum(emails) FROM mailqueue.accepted_days") == 3
    assert await make.scalar(desk.conn, "SELECT count(*) FROM mailqueue.lane_signals") == 0


async def key(conn: Conn, name: str, expires_in: timedelta) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.api_keys (project_id, name, key_hash, hint, is_test, expires_at)"
        " SELECT id, %s, sha256(%s::bytea), 'mq', true, now() + %s FROM mailqueue.projects",
        (name, name, expires_in),
    )


async def test_keys_that_expired_are_revoked_once_and_on_record(desk: MaintenanceContext) -> None:
    await key(desk.conn, "over", -timedelta(days=1))
    await key(desk.conn, "soon", timedelta(days=3))
    await key(desk.conn, "later", timedelta(days=300))

    first, second = await keys.run(desk), await keys.run(desk)

    assert (first.counts, second.counts["expired"]) == ({"expired": 1, "soon": 1}, 0)
    assert "default/over" in first.summary
    assert "default/soon" in first.summary
    revoked = "SELECT name FROM mailqueue.api_keys WHERE revoked_at = expires_at"
    assert await make.rows(desk.conn, revoked) == [("over",)]
    audit = "SELECT subject FROM mailqueue.audit_events WHERE action = 'api_key.expired'"
    assert await make.rows(desk.conn, audit) == [("over",)]


async def test_a_warm_up_that_is_over_ends(desk: MaintenanceContext) -> None:
    await make.sender_account(desk.conn, name="new", warm_up=[10, 20], daily_limit=500)
    await desk.conn.execute(
        "INSERT INTO mailqueue.limit_days SELECT m.id, current_date - n, 5, 0, 0, 0"
        " FROM mailqueue.limits AS m, generate_series(1, 2) AS n WHERE m.warm_up IS NOT NULL"
    )
    await desk.conn.execute("UPDATE mailqueue.limits SET warm_up_from = current_date - 9")

    report = await warm_up.run(desk)

    assert report.counts == {"warming_up": 0, "ended": 1}
    assert await make.scalar(desk.conn, "SELECT warm_up FROM mailqueue.sender_accounts") is None


@pytest.mark.parametrize(
    ("sent_today", "bounces", "is_bad"), [(49, 49, False), (100, 5, False), (100, 6, True)]
)
def test_a_warm_up_exceeds_its_limit_when_more_than_a_twentieth_bounces(
    sent_today: int, bounces: int, *, is_bad: bool
) -> None:
    ramp = WarmUp("p", "s", 1, 4, 200, sent_today, bounces)

    assert warm_up.exceeds_bounce_limit(ramp) is is_bad


async def test_what_has_no_archive_is_deleted_at_its_age(desk: MaintenanceContext) -> None:
    conn = desk.conn
    project = await old(conn, 3, days=500)
    await conn.execute(
        "INSERT INTO mailqueue.email_events (occurred_at, project_id, email_id, type)"
        " SELECT now() - interval '500 d', %s, gen_random_uuid(), t"
        " FROM unnest('{opened,clicked,queued}'::text[]) AS t",
        (project,),
    )
    await conn.execute(
        "INSERT INTO mailqueue.idempotency_keys SELECT %s, k, 'x', gen_random_uuid(), at FROM"
        " (VALUES ('old', now() - interval '500 d'), ('new', now())) AS v(k, at)",
        (project,),
    )
    await conn.execute(
        "INSERT INTO mailqueue.idempotent_answers (project_id, key, fingerprint, created_at)"
        " SELECT %s, k, 'x', at FROM"
        " (VALUES ('old', now() - interval '25 h'), ('new', now() - interval '23 h')) AS v(k, at)",
        (project,),
    )
    await conn.execute(
        "INSERT INTO mailqueue.request_buckets SELECT gen_random_uuid(), 0, 0, now() - a"
        " FROM unnest('{2 d,1 h}'::interval[]) AS a"
    )
    await conn.execute(
        "INSERT INTO mailqueue.trap_messages (received_at, mail_from, rcpt_to, subject,"
        " from_header, to_header, preview, size_bytes, raw)"
        " SELECT now() - a, '', '{}', '', '', '', '', 0, ''"
        " FROM unnest('{40 d,1 d}'::interval[]) AS a"
    )
    await conn.execute(
        "INSERT INTO mailqueue.bulk_operations (project_id, verb, filter, reason, requested_by,"
        " status, created_at, finished_at)"
        " SELECT %s, 'hold', '{}', 'r', 'ann', 'done', now() - a, now() - a"
        " FROM unnest('{500 d,1 d}'::interval[]) AS a",
        (project,),
    )
    await conn.execute(
        "INSERT INTO mailqueue.inbox_state (message_id, consumer_id, lock_id, received,"
        " receive_count, project_id, type)"
        " SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() - a, 1, %s, 'A'"
        " FROM unnest('{31 d,29 d}'::interval[]) AS a",
        (project,),
    )
    await conn.execute(
        "INSERT INTO mailqueue.outbox_message (message_id, message_type, body, content_type,"
        " enqueue_time, sent_time, outbox_id, project_id, status)"
        " SELECT gen_random_uuid(), 'A', '{}', 'application/json', now() - interval '60 d', at,"
        "        gen_random_uuid(), %s, status"
        " FROM (VALUES (now() - interval '8 d', 'published'), (now() - interval '6 d', 'expired'),"
        "       ('infinity', 'pending')) AS v(at, status)",
        (project,),
    )
    await conn.execute(
        "WITH queues AS (INSERT INTO mailqueue.broker_queues (name, project_id, state, seen_at)"
        " SELECT 'q' || n, %(project)s, 'stopped', at"
        " FROM (VALUES (1, now() - interval '31 d'), (2, now())) AS v(n, at))"
        " INSERT INTO mailqueue.dead_letters (project_id, queue, digest, reason, created_at)"
        " SELECT %(project)s, 'q', decode(n::text, 'hex'), 'r', at"
        " FROM (VALUES (11, now() - interval '31 d'), (22, now())) AS v(n, at)",
        {"project": project},
    )
    await conn.execute(  # no exporter of traces runs, which deletes them too
        "INSERT INTO mailqueue.send_stages SELECT gen_random_uuid(), now() - age, 1, 1, 1, 1"
        " FROM unnest('{4 d,2 d}'::interval[]) AS age"
    )
    newest = await make.worker(conn)
    await conn.execute(
        "SELECT mailqueue.stop_worker(id) FROM mailqueue.workers;"
        " UPDATE mailqueue.workers SET stopped_at = now() - interval '60 d';"
        " INSERT INTO mailqueue.waiters (worker_id, queue) SELECT id, 'email_queue'"
        " FROM mailqueue.workers"
    )

    report = await retention.run(desk)

    assert report.counts == {
        "records": 2,
        "idempotency_keys": 1,
        "outbox_rows": 0,
        "event_stream": 0,
        "answers": 1,
        "request_buckets": 1,
        "trap_messages": 1,
        "workers": 1,
        "waiters": 2,
        "limit_days": 0,
        **dict.fromkeys(("console_sessions", "console_actions", "console_attempts"), 0),
        "console_challenges": 0,
        "accepted_days": 0,
        "batches": 0,
        "bulk_operations": 1,
        "exports": 0,
        "imports": 0,
        "ab_tests": 0,
        "contact_list_members": 0,
        "list_sends": 0,
        "custom_smtp_servers": 0,
        "event_keys": 0,
        "inbound_events": 0,
        "inbox_state": 1,
        "dead_letters": 1,
        "services": 0,
        "broker_queues": 1,
        "outbox_messages": 1,
        "sequence_enrollments": 0,
        "sequence_events": 0,
        "schedule_recipients": 0,
        "schedule_runs": 0,
        "schedules": 0,
        "broadcasts": 0,
        **dict.fromkeys(("stats_latency", "stats_minutes", "stats_quarters", "stats_values"), 0),
        "timed_events": 0,
        "notifications": 0,
        **dict.fromkeys(("inbox_consents", "inbox_links", "inbox_sessions"), 0),
        "seen_messages": 0,
        "send_stages": 1,
        "marketing_counts": 0,
        "webhook_deliveries": 0,
        "tracked_links": 0,
        "attachments": 0,
        "files": 0,
        "moved": 0,
    } | dict.fromkeys(("slack_installations", "phone_registrations", "domain_checks"), 0)
    kinds = "SELECT count(*) FROM mailqueue.email_events WHERE type IN ('opened', 'clicked')"
    assert await make.scalar(conn, kinds) == 0
    assert await make.rows(conn, "SELECT key FROM mailqueue.idempotency_keys") == [("new",)]
    assert await make.rows(conn, "SELECT id FROM mailqueue.workers") == [(newest,)]
    assert (await stored_mail.in_tables(conn))["email_history"] == 3


async def test_changed_tables_are_analyzed_partitioned_ones_too(desk: MaintenanceContext) -> None:
    await sent(desk.conn, 30)
    await desk.conn.execute("SELECT pg_stat_force_next_flush()")

    report = await statistics.analyze(desk)

    assert report.counts["tables"] >= 1
    known = "SELECT count(*) FROM pg_stats WHERE tablename = 'email_history' AND inherited"
    assert await make.scalar(desk.conn, known) > 0


async def test_who_keeps_dead_rows_is_named(
    desk: MaintenanceContext, database: DatabaseSettings
) -> None:
    async with connect(database, application_name="a report") as holder, holder.transaction():
        await make.rows(holder, "SELECT count(*) FROM mailqueue.email_queue")
        await holder.execute("DECLARE c CURSOR FOR SELECT * FROM mailqueue.projects")
        report = await statistics.advise(desk, hold_seconds=0.0)

    assert "a report" in report.needs[0]
    assert "pg_terminate_backend" in report.needs[0]
