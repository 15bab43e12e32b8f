"""Tables full of the extremes of every type go through workers, API, commands and maintenance.

The tests of this file share a database: workers have been through it before the first.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from mailqueue.admin import administrators
from mailqueue.api.app import create_app
from mailqueue.api.table import ENDPOINTS
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.pool import connect, open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN
from tests.queue.extremes.columns import columns
from tests.queue.extremes.conftest import ALL, Extreme
from tests.queue.extremes.plain import OF_NOBODY

pytestmark = pytest.mark.timeout(3 * 3600)
OF_ONE_ROW = {
    "account.unreadable",
    "email.unreadable",
    "message.build_failed",
    "outcome.refused",
    "queue.not_handled",
    "queue.not_settled",
    "webhook.unsigned",
}
"""Errors in the log that say which row or account could not be worked on."""
WITHOUT_EXTREME = {
    "ab_test_variants": {"number", "share"},
    "ab_tests": {"alpha", "evaluate_after", "sample_percent"},
    "address_keys": {"inner_pad", "outer_pad"},
    "api_keys": {"scopes"},
    "attachments": {"created_on"},
    "audit_seals": {"position"},
    "birthday_rules": {"local_time"},
    "canaries": {"every"},
    "contact_lists": {"name"},
    "dkim_keys": {"domain", "selector"},
    "email_contents": {"created_on"},
    "email_events": {"occurred_at"},
    "email_history": {"finished_at"},
    "email_recipients": {"position"},
    "event_rules": {"name"},
    "inbound_endpoints": {"provider", "token_hash"},
    "inbox_consents": {"state_hash"},
    "lanes": {"priority", "route"},
    "limit_windows": {"seconds"},
    "limits": {"sender_account_id"},
    "maintenance_tasks": {"every"},
    "outbox_state": {"name"},
    "projects": {"name", "weight", "soft_bounce_days"},
    "retention_rules": {"hot_days"},
    "retry_ladders": {"steps"},
    "send_logs": {"sent_at"},
    "sender_accounts": {"name", "smtp_port", "batch_size", "max_connections"},
    "sequences": {"name"},
    "subscription_categories": {"slug"},
    "template_parts": {"name"},
    "template_pictures": {"name", "media_type", "width", "height"},
    "template_texts": {"language"},
    "templates": {"slug", "category", "language"},
    "tracked_links": {"link", "url"},
    "tracking_keys": {"id"},
}
"""Columns of which constraints of the schema let no extreme in."""
SLOW_PATHS = ("/v1/dkim/check", "/v1/suppressions/check")
"""Paths that ask name servers, or need a query."""
FEW_PATHS = ("/v1/emails", "/v1/projects/{pid}/smtp-configs", "/admin/projects/{id}/stats")
COMMANDS = """
admin list
archive days
archive list
archive verify
category list --project subscription-categories-6
dkim list --project dkim-keys-6
doctor
domain list
event list
event notices
event received
key list --project shared-8
pauses
platform audit
platform events
platform flags
platform settings
producer list
project audit
project list
project stats shared-1
project usage
route list --project routing-rules-4
sender health
sender list --project sender-accounts-8
sender rates
status
suppression export --project suppressions-3
suppression list --project suppressions-3
template list --project templates-4
trap list
vault status
verify
webhook list --project webhooks
"""
"""Commands that read, for projects with extremes where a project has to be named."""
WITHOUT_JSON = "suppression export"


@pytest.mark.anyio
async def test_every_column_holds_an_extreme_that_the_schema_lets_in(extreme: Extreme) -> None:
    async with connect(extreme.database) as conn:
        known = await columns(conn)
    missing = {
        f"{table}.{column.name}"
        for table, found in known.items()
        for column in found
        if table not in OF_NOBODY and (table, column.name) not in extreme.filled.columns
    }
    assert missing == {
        f"{table}.{name}" for table, names in WITHOUT_EXTREME.items() for name in names
    }


def test_workers_go_on_and_the_work_of_neighbours_is_done(extreme: Extreme) -> None:
    assert extreme.is_running
    assert extreme.left == {}
    assert extreme.unseen == []
    told = [line for line in extreme.logged if line["log_level"] in ("error", "critical")]
    assert {line["event"] for line in told} <= OF_ONE_ROW


@pytest.mark.anyio
async def test_each_email_and_row_has_an_explanation(extreme: Extreme) -> None:
    async with connect(extreme.database) as conn:
        for table in ("emails", *(spec.table for spec in QUEUES)):
            query = f"SELECT id, mailqueue.why(id) FROM mailqueue.{table}"
            assert [row[0] for row in await make.rows(conn, query) if not row[1]] == []


@pytest.mark.anyio
async def test_views_are_read(extreme: Extreme) -> None:
    async with connect(extreme.database) as conn:
        views = await make.rows(
            conn,
            "SELECT c.relname::text FROM pg_class AS c"
            " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'v'",
        )
        assert len(views) > 20
        for (name,) in views:
            await conn.execute(f"SELECT * FROM mailqueue.{name}".encode())


@asynccontextmanager
async def serving(extreme: Extreme) -> AsyncIterator[httpx2.AsyncClient]:
    async with open_pool(extreme.database) as pool:
        services = build_services(extreme.settings, pool)
        app = create_app(extreme.settings, pool, services=services)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield http


@pytest.mark.anyio
async def test_the_api_answers_whatever_it_reads(extreme: Extreme) -> None:
    reads = [one for one in ENDPOINTS if one.method == "GET" and one.path not in SLOW_PATHS]
    of_all = [one for one in reads if one.superadmin and "{" not in one.path]
    async with connect(extreme.database) as conn, serving(extreme) as http:
        made = await administrators.create(conn, "ann", by="tests")
        admin = {"Authorization": f"Bearer {made.token.reveal()}"}
        calls = [(one.path, admin) for one in of_all]
        names = await make.rows(conn, "SELECT name, id::text FROM mailqueue.projects ORDER BY id")
        for name, project in names:
            key = await issue_key(conn, name, "reads", is_test=False, requests_per_second=100_000)
            headers = {"X-API-Key": key.key.reveal()}
            has_all = extreme.most == ALL or name.startswith("shared-")
            for one in reads:
                if one in of_all or not (has_all or one.path in FEW_PATHS):
                    continue
                given = {"pid": name, "id": project, "email": "ann@example.com"}
                if set(re.findall(r"{(\w+)}", one.path)) <= set(given):
                    path = one.path.format(**given)
                    calls.append((path, admin if one.superadmin else headers))
        for path, headers in calls:
            answer = await http.get(path, headers=headers)
            assert answer.status_code < 500, f"{path}: {answer.text}"
        assert len(calls) > 1_000


@pytest.mark.parametrize("words", [line.split() for line in COMMANDS.split("\n") if line])
def test_commands_show_whatever_they_read(extreme: Extreme, words: list[str]) -> None:
    ways = [()] if " ".join(words).startswith(WITHOUT_JSON) else [(), ("--json",)]
    for more in ways:
        result = extreme.cli(*words, *more)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert result.exit_code in (0, 1), result.output[-2_000:]


def test_a_person_is_exported_from_all_projects(extreme: Extreme) -> None:
    found = json.loads(extreme.cli("export-person", "ann@example.com").stdout)
    assert len(found["projects"]) > 10
    assert {"mails", "records", "archives"} < found["projects"][0].keys()


@pytest.mark.parametrize("spec", QUEUES, ids=[spec.name for spec in QUEUES])
def test_commands_list_the_rows_of_each_queue(extreme: Extreme, spec: QueueSpec) -> None:
    rows = extreme.cli.json("queue", "list", spec.name)
    for row in rows[:: max(1, len(rows) // 5)]:
        assert extreme.cli("queue", "show", str(row["id"])).exit_code == 0
