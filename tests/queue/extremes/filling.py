"""Fills tables with extremes: one row for each, beside rows that are as they should be.

A table that the path of a mail reads has a project for each of its rows, so that no other row hides
what its own does. The rows of all other tables share projects. A new table is filled by itself: its
columns without a default get plain values of their types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from psycopg import DatabaseError, DataError, IntegrityError, errors

from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from mailqueue.privacy import erasing, persons
from tests import make
from tests.queue.extremes.automation import AB_TESTS, SCHEDULES, SEQUENCES
from tests.queue.extremes.columns import Column
from tests.queue.extremes.plain import (
    ALONE,
    INSERTS,
    NEEDED,
    OF_NOBODY,
    PLAIN,
    REFERENCES,
    TOGETHER,
    WHOSE,
)
from tests.queue.extremes.servers import queue_with_servers, relays
from tests.sequences import running
from tests.stream.reading import read_stream
from tests.templates.making import published
from tests.webhooks.delivering import webhook

MAX_WEBHOOKS = 50
"""Webhooks of one project."""
MAKING_MAIL = {"schedules", "schedule_runs", "sequence_enrollments", "timed_events"}
"""Queues whose rows make mail, which an account of their project sends."""


@dataclass
class Filled:
    """What was written."""

    rows: list[str] = field(default_factory=list)
    """Column and extreme of each row."""
    columns: set[tuple[str, str]] = field(default_factory=set)
    projects: list[str] = field(default_factory=list)
    _planted: int = 0

    def number(self) -> int:
        """Return a number for a plain row."""
        self._planted += 1
        return self._planted


@dataclass(frozen=True, slots=True)
class Site:
    """Where mail, webhooks and archives go; `owner` writes rows past triggers and foreign keys."""

    conn: Conn
    owner: Conn
    smtp_port: int
    http_port: int
    folder: Path


async def fill(site: Site, columns: Mapping[str, Sequence[Column]], *, most: int) -> Filled:
    """Write rows for so many extremes of each column as constraints of the schema let in."""
    filled = Filled()
    of_queues = {spec.table for spec in QUEUES} | {"webhooks", "webhook_events"}
    wanted = {
        table: [one for one in of for _ in range(min(most, len(one.values)))]
        for table, of in columns.items()
        if table not in OF_NOBODY
    }
    others = [table for table in wanted if table not in of_queues.union(ALONE)]
    shared = await projects(site, filled, "shared", max(len(wanted[table]) for table in others))
    for table in others:
        rows = [await _rows_of(site, filled, table, one) for one in shared[: len(wanted[table])]]
        await _write(site, filled, wanted[table], rows)
    for table in ALONE:
        ids = await projects(site, filled, table, len(wanted[table]))
        rows = [await _rows_of(site, filled, table, one) for one in ids]
        await _write(site, filled, wanted[table], rows)
    for table in sorted(of_queues):
        rows = await queued(site, filled, table, len(wanted[table]))
        await _write(site, filled, wanted[table], rows)
    return filled


async def projects(site: Site, filled: Filled, prefix: str, count: int) -> list[UUID]:
    """Make projects with an account and mail."""
    names = [f"{prefix}-{n}".replace("_", "-") for n in range(count)]
    filled.projects += names
    conn = site.conn
    async with conn.transaction():
        found = await make.rows(
            conn,
            "INSERT INTO mailqueue.projects (name) SELECT n FROM unnest(%s::text[])"
            " WITH ORDINALITY AS u (n, place) ORDER BY place RETURNING id",
            names,
        )
        ids = [row[0] for row in found]
        await relays(conn, site.smtp_port, ids)
        await conn.execute(
            "INSERT INTO mailqueue.email_queue (project, recipient_email, subject, text_body, cc)"
            " SELECT n, 'ann@example.com', 'Hello', 'Hello Ann', '{bob@example.com}'"
            " FROM unnest(%s::text[]) AS n",
            (names,),
        )
        await conn.execute(
            "INSERT INTO mailqueue.inbox_state (message_id, consumer_id, lock_id, received,"
            " receive_count, project_id, type, payload, status)"
            " SELECT p, p, p, now(), 1, p, 'OrderPlaced', '{}', 'ignored'"
            " FROM unnest(%s::uuid[]) AS p",
            (ids,),
        )
        await conn.execute(
            "WITH one AS (INSERT INTO mailqueue.contacts (project_id, email, email_key)"
            " SELECT p, 'ann@example.com', 'ann@example.com' FROM unnest(%s::uuid[]) AS p)"
            " INSERT INTO mailqueue.contact_lists (project_id, name, created_by)"
            " SELECT p, 'news', 'tests' FROM unnest(%s::uuid[]) AS p",
            (ids, ids),
        )
        await conn.execute(
            "INSERT INTO mailqueue.contact_list_members (list_id, contact_id, project_id)"
            " SELECT l.id, c.id, c.project_id FROM mailqueue.contact_lists AS l"
            " JOIN mailqueue.contacts AS c ON c.project_id = l.project_id"
            " WHERE l.project_id = ANY (%s::uuid[]) ON CONFLICT DO NOTHING",
            (ids,),
        )
        await conn.execute(
            "INSERT INTO mailqueue.list_sends (project_id, batch_id, list_id, list_name, contents,"
            " languages, options, variables, own, except_contacts, is_test, requested_by, status,"
            " finished_at) SELECT l.project_id, gen_random_uuid(), l.id, l.name, '[]', '{}', '{}',"
            " '{}', '{}', '{}', false, 'tests', 'done', now() FROM mailqueue.contact_lists AS l"
            " WHERE l.project_id = ANY (%s::uuid[])",
            (ids,),
        )
        await conn.execute(AB_TESTS, (ids,))
        await conn.execute(SCHEDULES, (ids,))
        await conn.execute(SEQUENCES, (ids,))
        if prefix.startswith("template"):
            for one in ids:
                await published(conn, one)
            await conn.execute(
                "INSERT INTO mailqueue.email_queue (project, recipient_email, template, variables)"
                """ SELECT n, 'ann@example.com', 'welcome', '{"name": "Ann"}'"""
                " FROM unnest(%s::text[]) AS n",
                (names,),
            )
        if prefix == "tracking_keys":
            await conn.execute(
                "INSERT INTO mailqueue.email_queue"
                " (project, recipient_email, subject, html_body, track_clicks, unsubscribe)"
                " SELECT n, 'ann@example.com', 'Hello',"
                """ '<a href="http://example.com/">Hello</a>', true, true"""
                " FROM unnest(%s::text[]) AS n",
                (names,),
            )
        if prefix == "data_keys":
            for one in ids:
                await _told(site, one, webhooks=1, events=1)
    return ids


async def _told(site: Site, project: UUID, *, webhooks: int, events: int) -> None:
    """Have webhooks receive events of a project."""
    for n in range(webhooks):
        await webhook(site.conn, f"http://127.0.0.1:{site.http_port}/{n}", project_id=project)
    await site.conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email)"
        " SELECT %s, gen_random_uuid(), 'delivered', 'ann@example.com' FROM generate_series(1, %s)",
        (project, events),
    )
    await read_stream(site.conn)


async def queued(
    site: Site, filled: Filled, table: str, count: int, *, prefix: str = ""
) -> list[str]:
    """Make rows of a queue; return the conditions that find them."""
    conn, name = site.conn, prefix + table.replace("_", "-")
    if table == "webhooks" and count > MAX_WEBHOOKS:
        rest = await queued(site, filled, table, count - MAX_WEBHOOKS, prefix=f"more-{prefix}")
        return rest + await queued(site, filled, table, MAX_WEBHOOKS, prefix=prefix)
    project = await make.project(conn, name)
    filled.projects.append(name)
    if table in MAKING_MAIL:
        await relays(conn, site.smtp_port, [project])
    match table:
        case "inbound_events":
            await conn.execute(
                "INSERT INTO mailqueue.inbound_events (project_id, provider, body)"
                " SELECT %s, 'sendgrid', '[]' FROM generate_series(1, %s)",
                (project, count),
            )
        case "erasures":
            for n in range(count):
                spellings = persons.spellings_of(f"person{n}@example.com")
                await erasing.begin(persons.lending(conn), project, spellings, by="tests")
        case "webhooks":
            await _told(site, project, webhooks=count, events=1)
        case "webhook_events" | "webhook_deliveries":
            await _told(site, project, webhooks=1, events=count)
        case "notifications" | "canaries":
            found = await make.rows(conn, INSERTS[table], project, count)
            return [f"tableoid = {place} AND ctid = '{ctid}'" for place, ctid in found]
        case "custom_smtp_servers":
            await queue_with_servers(conn, site.smtp_port, project, name, count)
        case "schedule_runs":
            await _planted(site, filled, "schedules", project)
            return [await _planted(site, filled, table, project) for _ in range(count)]
        case "sequence_enrollments":
            await running.template(conn, project)
            # Its mail is marketing.
            await conn.execute(
                "UPDATE mailqueue.projects SET require_postal_address = false WHERE id = %s",
                (project,),
            )
            await running.sequence(conn, project, running.WELCOME)
            for n in range(count):
                await conn.execute(
                    "SELECT mailqueue.enroll('onboarding', %s, project => %s)",
                    (f"person{n}@example.com", name),
                )
        case _:  # rows that only the schema makes, or those of a new queue
            return [await _planted(site, filled, table, project) for _ in range(count)]
    query = f"SELECT id FROM mailqueue.{table} WHERE project_id = %s ORDER BY id"
    return [f"id = '{row[0]}'" for row in await make.rows(conn, query, project)]


async def _rows_of(site: Site, filled: Filled, table: str, project: UUID) -> str:
    """Return the condition that finds the rows of a project, or a new one where it has none."""
    whose = WHOSE.get(table)
    if whose is None and await _has_projects(site, table):
        whose = "project_id = {project}"
    if whose is not None:
        condition = whose.format(project=f"'{project}'")
        query = f"SELECT count(*) FROM mailqueue.{table} WHERE {condition}"
        if await make.scalar(site.conn, query):
            return condition
    return await _planted(site, filled, table, project)


async def _has_projects(site: Site, table: str) -> bool:
    query = (
        "SELECT EXISTS (SELECT FROM pg_attribute WHERE attname = 'project_id'"
        " AND attrelid = ('mailqueue.' || %s)::regclass)"
    )
    return bool(await make.scalar(site.conn, query, table))


async def _planted(site: Site, filled: Filled, table: str, project: UUID) -> str:
    """Insert a plain row; return the condition that finds it."""
    values: dict[str, str] = {}
    for column, kind, word in await make.rows(site.conn, NEEDED, table):
        plain = "'{{}}'" if kind.startswith("_") else PLAIN[kind]
        values[column] = REFERENCES.get(column) or word or plain
    values |= TOGETHER.get(table, {})
    number = filled.number()
    written = [
        value.format(project=f"'{project}'", n=number, folder=site.folder)
        for value in values.values()
    ]
    insert = (
        f"INSERT INTO mailqueue.{table} ({', '.join(values)}) OVERRIDING SYSTEM VALUE"
        f" VALUES ({', '.join(written)}) RETURNING tableoid::text, ctid::text"
    )
    try:
        async with site.conn.transaction():
            [(place, ctid)] = await make.rows(site.conn, insert)
    except DatabaseError:  # what it refers to is not there
        [(place, ctid)] = await make.rows(site.owner, insert)
    return f"tableoid = {place} AND ctid = '{ctid}'"


async def _write(
    site: Site, filled: Filled, columns: Sequence[Column], conditions: Sequence[str]
) -> None:
    """Write into the rows of each condition the next extreme of its column that is let in."""
    tried: dict[str, int] = {}
    for column, condition in zip(columns, conditions, strict=True):
        while tried.get(column.name, 0) < len(column.values):
            value = column.values[tried.get(column.name, 0)]
            tried[column.name] = tried.get(column.name, 0) + 1
            statement = (
                f"UPDATE mailqueue.{column.table} SET {column.name} = {value} WHERE {condition}"
            )
            try:
                changed = await site.owner.execute(statement.encode())
            except (IntegrityError, DataError, errors.ProgramLimitExceeded):
                continue
            assert changed.rowcount > 0, statement[:300]
            filled.rows.append(f"{column.table}.{column.name} = {value[:60]}")
            filled.columns.add((column.table, column.name))
            break
