"""A few rows of each queue, and their expected state when they are done.

Every queue of QUEUES has its row in KINDS: tests kill workers at each point for each of them.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from uuid import uuid4

from mailqueue.adapters.inbound.event_types import ID_NAME
from mailqueue.core.queues.registry import queue_named
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.mail.custom_smtp.queued import queue_for
from mailqueue.maintenance.model import Task
from mailqueue.operations import background
from mailqueue.privacy import erasing, persons
from mailqueue.projects.model import Caller
from mailqueue.senders.custom_smtp import custom_smtp_server
from mailqueue.vault.masterkey import parse_master_key
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.api.support.wired import MASTER
from tests.events.sent_mail import left
from tests.inbound.json_provider import kept
from tests.mail.custom_smtp.sending import mail
from tests.publishing import outboxes
from tests.queue.kernel.canaries import canaries
from tests.queue.kernel.compared import ab_tests
from tests.queue.kernel.domains import domains
from tests.queue.kernel.files import exports, imports
from tests.queue.kernel.rows import DONE, Kind, Rows, ids_of
from tests.queue.kernel.timed import list_sends, schedule_runs, schedules, sequences, timed_events
from tests.queue.kernel.watched import inboxes, notifications, stats
from tests.smtp.client.scripted import scripted
from tests.webhooks.delivering import told as told_webhooks
from tests.webhooks.delivering import webhook

AGAIN = (
    "status = 'pending' AND attempts = 0 AND crashes = 0 AND worker_id IS NULL AND run_at > now()"
    " AND last_run_at IS NOT NULL"
)


PUBLISHED = (
    "status = 'pending' AND attempts = 0 AND crashes = 0 AND worker_id IS NULL"
    " AND run_at > now() + interval '1 h' AND delivered IS NOT NULL"
)


MESSAGES = 5
"""Messages of each outbox."""


@asynccontextmanager
async def inbound(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create requests of a provider, each with one event, which is recorded exactly once."""
    mail = await left(conn)
    for number in range(count):
        await kept(
            conn,
            {
                "sg_event_id": f"{mail} {number}",
                "timestamp": number + 1,
                "email": "ann@example.com",
                "event": "open",
                ID_NAME: str(mail),
            },
        )

    async def check(_doubtful: int) -> None:
        query = "SELECT count(*) FROM mailqueue.email_events WHERE source = 'sendgrid'"
        assert await make.scalar(conn, query) == count

    spec = queue_named("inbound")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def webhooks(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create deliveries, each of which arrives; twice only if it was in progress at a kill."""
    async with fake([FakeReply(200)]) as server:
        await webhook(conn, f"http://127.0.0.1:{server.port}/")
        await told_webhooks(conn, count)

        async def check(doubtful: int) -> None:
            seen = [one.headers["webhook-id"] for one in server.requests]
            events = await make.rows(conn, "SELECT event_id FROM mailqueue.webhook_deliveries")
            assert set(seen) == {str(row[0]) for row in events}
            assert len(seen) <= count + doubtful

        spec = queue_named("webhooks")
        yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def erasures(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create erasures of persons, after which no data of them is left."""
    project_id = await make.project_named(conn)
    for number in range(count):
        spellings = persons.spellings_of(f"person{number}@example.com")
        await erasing.begin(persons.lending(conn), project_id, spellings, by="tests")

    async def check(_doubtful: int) -> None:
        query = "SELECT count(*) FROM mailqueue.erasures WHERE spellings IS NOT NULL"
        assert await make.scalar(conn, query) == 0

    spec = queue_named("erasures")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def maintenance(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Make tasks due, each of which runs and is due again later."""
    few = [Task.COUNTERS, Task.KEYS, Task.ANALYZE, Task.PARTITIONS][:count]
    found = await make.rows(
        conn,
        "UPDATE mailqueue.maintenance_tasks SET last_run_at = NULL,"
        " run_at = CASE WHEN task = ANY (%s) THEN now() ELSE now() + interval '1 day' END"
        " RETURNING id, task",
        [task.value for task in few],
    )
    ids = [row[0] for row in found if row[1] in few]

    async def check(_doubtful: int) -> None:
        query = "SELECT count(*) FROM mailqueue.maintenance_tasks WHERE last_run_at IS NULL"
        assert await make.scalar(conn, f"{query} AND id = ANY (%s)", ids) == 0

    yield Rows(queue_named("maintenance"), ids, check, AGAIN)


@asynccontextmanager
async def custom_smtp(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Queue mail with a custom server, each sent once; held if it was in progress at a kill."""
    async with scripted() as server:
        named = custom_smtp_server(
            host="127.0.0.1", port=server.port, tls="none", username=Secret(""), password=Secret("")
        )
        project_id = await make.project_named(conn)
        caller = Caller(uuid4(), project_id, "default", is_test=False, trap_sender=None)
        key = parse_master_key(MASTER, source="tests")
        for number in range(count):
            async with conn.transaction():
                email = mail(f"person{number}@example.com")
                await queue_for(conn, email, named, caller=caller, master=key)

        async def check(doubtful: int) -> None:
            states = await make.rows(conn, "SELECT status FROM mailqueue.emails")
            found = Counter(row[0] for row in states)
            assert found["sent"] + found["held"] == count
            assert found["held"] <= doubtful
            seen = Counter(message.recipients for message in server.messages)
            assert set(seen.values()) <= {1}, "none is sent twice"
            assert found["sent"] <= len(seen) <= count

        spec = queue_named("custom-smtp")
        yield Rows(spec, await ids_of(conn, spec), check, "false")


@asynccontextmanager
async def operations(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create operations of projects of their own, each of which ends with all its mail held."""
    for number in range(count):
        project_id = await make.project(conn, f"shop-{number}")
        await make.queued_email(conn, project_id=project_id, subject="Spring sale")
        await make.queued_email(conn, project_id=project_id, subject="Your bill")
        await background.begin(
            conn,
            project_id,
            verb=background.OperationVerb.HOLD,
            where={"subject": "spring"},
            reason="wrong price",
            by="tests",
        )

    async def check(_doubtful: int) -> None:
        query = "SELECT subject FROM mailqueue.emails WHERE status = 'held'"
        assert await make.rows(conn, query) == [("Spring sale",)] * count
        progress = "SELECT DISTINCT emails, searched >= 2 * %s FROM mailqueue.bulk_operations"
        assert await make.rows(conn, progress, count) == [(1, True)]
        ends = "SELECT count(*), count(DISTINCT subject) FROM mailqueue.audit_events"
        found = await make.rows(conn, f"{ends} WHERE action = 'operation.ended'")
        assert found == [(count, count)]

    spec = queue_named("operations")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def publishing(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create outboxes, whose messages arrive in order; again only those in progress at a kill."""
    async with fake([FakeReply(200)]) as server:
        target = await webhook(conn, f"http://127.0.0.1:{server.port}/")
        written = {}
        for number in range(count):
            await outboxes.add(conn, f"box{number}", target)
            written[f"box{number}"] = [
                await outboxes.publish(conn, n, outbox=f"box{number}") for n in range(MESSAGES)
            ]

        async def check(doubtful: int) -> None:
            found = outboxes.arrived(server)
            for name, messages in written.items():
                assert list(dict.fromkeys(found[name])) == messages
            assert sum(map(len, found.values())) <= count * MESSAGES + doubtful * MESSAGES

        spec = queue_named("publishing")
        yield Rows(spec, await ids_of(conn, spec), check, PUBLISHED)


KINDS: Mapping[str, Kind] = {
    "inbound": inbound,
    "webhooks": webhooks,
    "erasures": erasures,
    "maintenance": maintenance,
    "custom-smtp": custom_smtp,
    "operations": operations,
    "list-sends": list_sends,
    "publishing": publishing,
    "inboxes": inboxes,
    "notifications": notifications,
    "sequences": sequences,
    "timed-events": timed_events,
    "schedules": schedules,
    "schedule-runs": schedule_runs,
    "stats": stats,
    "exports": exports,
    "imports": imports,
    "ab-tests": ab_tests,
    "domains": domains,
    "canaries": canaries,
}
