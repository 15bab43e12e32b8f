"""The operations that each role may perform, with real logins."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.core.queues.registry import QUEUES
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.db.sql import SQL, sql_folder
from mailqueue.queue.store import ROW_STATEMENTS, statement
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.conftest import Server
from tests.rules.logins import login, mail

pytestmark = pytest.mark.anyio

VIEWS = """
    SELECT c.relname FROM pg_class AS c
     WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'v'
       AND has_table_privilege(%s, c.oid, 'SELECT')
"""
CAPTURE = " LANGUAGE plpgsql AS $$ BEGIN RAISE 'captured as %', current_user; END $$"


@pytest.fixture
def superuser_url(server: Server, fresh_db: str) -> str:
    return server.superuser_url(urlsplit(fresh_db).path[1:])


@pytest.fixture
async def owner(fresh_db: str) -> AsyncIterator[Conn]:
    async with connect(DatabaseSettings(Secret(fresh_db))) as conn:
        yield conn


@pytest.fixture
async def producer(superuser_url: str) -> AsyncIterator[Conn]:
    async with login(superuser_url, "mailqueue_producer") as conn:
        yield conn


@pytest.fixture
async def worker(superuser_url: str) -> AsyncIterator[Conn]:
    async with login(superuser_url, "mailqueue_worker") as conn:
        yield conn


async def test_a_producer_hands_mail_in_by_all_three_ways(owner: Conn, producer: Conn) -> None:
    inserted = await make.scalar(producer, mail())
    enqueued = await make.scalar(
        producer,
        "SELECT mailqueue.enqueue(recipient => 'a@example.com', subject => 's', text => 't')",
    )
    batched = await make.scalar(
        producer,
        "SELECT id FROM mailqueue.enqueue_batch('default',"
        ' \'[{"recipient": "a@example.com", "subject": "s", "text": "t"}]\')',
    )

    for email_id in (inserted, enqueued, batched):
        assert isinstance(email_id, UUID)
        assert await make.status_of(owner, email_id) == "pending"


async def test_a_producer_sets_every_column_a_mail_may_have(owner: Conn, producer: Conn) -> None:
    more = (
        ", recipient_name, html_body, campaign_id, custom_data, project, category, priority,"
        " run_at, expires_at, max_attempts, delivery, from_email, from_name, reply_to, headers,"
        " tags, also_to, cc, bcc, idempotency_key"
    )
    values = (
        ", 'Ann', '<p>Hi', 'c', '{}', 'default', 'marketing', 1, now(), now() + interval '1 d', 3,"
        " 'hold', 'me@example.com', 'Me', 're@example.com', '{\"X-A\": \"b\"}', '{t}',"
        " '{b@example.com}', '{c@example.com}', '{d@example.com}', 'k'"
    )

    email_id = await make.scalar(producer, mail(more, values))

    assert await make.status_of(owner, email_id) == "pending"


async def test_temporary_objects_named_like_ours_capture_nothing(
    owner: Conn, producer: Conn
) -> None:
    """Functions run as their owner: they must not find objects that a caller created."""
    for text in (
        "CREATE TEMP TABLE projects (id uuid, name text)",
        "CREATE TEMP TABLE email_queue (LIKE pg_class)",
        "CREATE TEMP TABLE email_contents (stolen text)",
        "CREATE TEMP TABLE lanes (stolen text)",
        "CREATE TEMP TABLE idempotency_keys (stolen text)",
        "CREATE FUNCTION pg_temp.now() RETURNS timestamptz" + CAPTURE,
        "CREATE FUNCTION pg_temp.lower(text) RETURNS text" + CAPTURE,
        "CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea" + CAPTURE,
        "CREATE FUNCTION pg_temp.nullif(text, text) RETURNS text" + CAPTURE,
        "CREATE FUNCTION pg_temp.refuse(text, text) RETURNS void" + CAPTURE,
        "CREATE DOMAIN pg_temp.timestamptz AS text CHECK (false)",
        "SET search_path = pg_temp, mailqueue, pg_catalog",
    ):
        await producer.execute(text.encode())

    email_id = await make.scalar(producer, mail(", idempotency_key", ", 'k'"))
    other_id = await make.scalar(
        producer,
        "SELECT mailqueue.enqueue(recipient => 'a@example.com', subject => 's', text => 't',"
        ' options => \'{"run_at": "2030-01-01 00:00+00", "idempotency_key": "j"}\')',
    )
    with pytest.raises(errors.InvalidParameterValue, match="subject: a subject is needed"):
        await producer.execute(
            "SELECT mailqueue.enqueue(recipient => 'a@example.com', text => 't')"
        )

    assert await make.status_of(owner, email_id) == "pending"
    assert await make.status_of(owner, other_id) == "pending"


# What a worker process runs beside the statements of its own two files.
ALSO_RUN_BY_WORKERS = ("find_sender_by_id", "list_senders", "find_data_key", "list_master_key_ids",
                       "find_key_grant", "list_keys_in_force", "is_dkim_required",
                       "list_keys_of_domains", "record_domain_checks",
                       "schema_exists", "list_applied_migrations",
                       "list_applied_objects")  # fmt: skip


async def test_a_worker_may_run_every_statement_of_a_worker(worker: Conn) -> None:
    """Explained, not run: rights on relations and functions are checked before the first row."""
    names = {name for file in ("queue", "mail/send") for name in _names_in(file)}
    shared = {each.name: each for each in ROW_STATEMENTS}
    found = [SQL[name] for name in names - set(shared) | set(ALSO_RUN_BY_WORKERS)]
    del shared["requeue_rows"]
    found += [
        statement(spec, each, ("id",) if each.name == "claim_rows" else ())
        for each in shared.values()
        for spec in QUEUES
    ]
    for each in found:
        query, parameters = _numbered(each.query.decode())
        async with worker.transaction(force_rollback=True):
            await worker.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            await worker.execute(f"PREPARE explained AS {query}".encode(), prepare=False)
            await worker.execute(f"EXPLAIN EXECUTE explained{parameters}".encode(), prepare=False)
            await worker.execute("DEALLOCATE explained")


async def test_a_worker_claims_marks_and_settles_with_its_rights_alone(
    owner: Conn, worker: Conn
) -> None:
    await make.sender_account(owner)
    email_id = await make.queued_email(owner)
    worker_id = await make.worker(worker)

    [(claimed_id, claim_no)] = await make.claimed(worker, worker_id)
    verdict = await make.scalar(
        worker,
        "SELECT verdict FROM mailqueue.mark_emails(%s, %s, %s, '{}', '{}')",
        worker_id,
        [email_id],
        [claim_no],
    )
    lost = await make.scalar(
        worker,
        "SELECT mailqueue.settle_emails(%s, %s, '{sent}', '{NULL}', '{NULL}', '{1}', '{0}',"
        " '{sent}', '{<a@example.com>}', '{NULL}', '{250}', '{2.0.0}', '{ok}', '{5}', '{f}')",
        [email_id],
        [claim_no],
    )
    await worker.execute("SELECT mailqueue.stop_worker(%s)", (worker_id,))

    assert (claimed_id, verdict, lost) == (email_id, "go", [])
    assert await make.status_of(owner, email_id) == "sent"


@pytest.mark.parametrize("role", ["mailqueue_dba", "mailqueue_api"])
async def test_each_role_reads_the_views_that_it_is_given(
    owner: Conn, superuser_url: str, role: str
) -> None:
    """The functions in a view are called with the rights of its reader."""
    views = await make.rows(owner, VIEWS, role)
    assert views
    async with login(superuser_url, role) as conn:
        for (view,) in views:
            await conn.execute(f"SELECT * FROM mailqueue.{view}".encode())


async def test_people_and_the_api_ask_why_an_email_waits(owner: Conn, superuser_url: str) -> None:
    await make.sender_account(owner)
    email_id = await make.queued_email(owner)
    for role in ("mailqueue_dba", "mailqueue_api"):
        async with login(superuser_url, role) as conn:
            assert await make.scalar(conn, "SELECT mailqueue.why(%s)", email_id)


async def test_tracking_writes_events_and_reads_nothing(superuser_url: str, owner: Conn) -> None:
    project_id = await make.project_named(owner)
    async with login(superuser_url, "mailqueue_tracking") as conn:
        await conn.execute(
            "INSERT INTO mailqueue.email_events (project_id, email_id, type)"
            " VALUES (%s, gen_random_uuid(), 'opened')",
            (project_id,),
        )
        with pytest.raises(errors.InsufficientPrivilege):
            await conn.execute("SELECT id FROM mailqueue.email_events")

    assert await make.scalar(owner, "SELECT count(*) FROM mailqueue.email_events") == 1


def _names_in(file: str) -> list[str]:
    text = (sql_folder() / "queries" / f"{file}.sql").read_text("utf-8")
    return re.findall(r"^-- name: (\w+)", text, re.MULTILINE)


def _numbered(query: str) -> tuple[str, str]:
    """Return the statement with $1, $2, … for its named parameters, and as many NULLs."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", query)))
    for number, name in enumerate(names, 1):
        query = query.replace(f"%({name})s", f"${number}")
    nulls = ", ".join(["NULL"] * len(names))
    return query.replace("%%", "%"), f"({nulls})" if names else ""
