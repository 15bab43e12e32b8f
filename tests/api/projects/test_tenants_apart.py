"""Two tenants request each other's objects by every endpoint, with either safeguard switched off.

The first line is that every statement names the caller's project; the second, that the database
shows a transaction one project only. A tenant must see nothing with either alone.
"""

from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest

from mailqueue.api.http.endpoint import Endpoint, Once
from mailqueue.api.http.openapi.document import operation_id
from mailqueue.api.http.runtime import Runtime
from tests import make
from tests.api.support.tenancy import MARK, OF_TENANTS, Tenants, serving, two_tenants

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def tenants(module_db: str) -> AsyncIterator[Tenants]:
    async with two_tenants(module_db) as both:
        yield both


def filled(endpoint: Endpoint, variables: dict[str, str], pid: str) -> str:
    """Return the path with ids of the one tenant's objects in place of its variables."""
    given = {**variables, "pid": pid}
    given["key_id"] = variables["dkim" if "/dkim" in endpoint.path else "api-keys"]
    return endpoint.path.format(**given)


def needed_query(endpoint: Endpoint) -> dict[str, str]:
    """Return a value for each required query parameter of an endpoint."""
    usual = {
        "email": "nobody@example.com",
        "domain": "example.org",
        "from": "1",
        "to": "1",
        "filename": "a.txt",
    }
    fields = {} if endpoint.query is None else endpoint.query.model_fields
    return {
        field.alias or name: usual.get(field.alias or name, "1")
        for name, field in fields.items()
        if field.is_required()
    }


def paths(endpoint: Endpoint, variables: dict[str, str], *pids: str) -> Iterator[str]:
    for pid in pids if "{pid}" in endpoint.path else pids[:1]:
        yield filled(endpoint, variables, pid)


async def ask(http: httpx2.AsyncClient, endpoint: Endpoint, path: str, key: str) -> httpx2.Response:
    return await http.request(
        endpoint.method,
        path,
        headers={"X-API-Key": key},
        params=needed_query(endpoint),
        json=(endpoint.example or {}) if endpoint.request else None,
    )


def of_things(endpoint: Endpoint) -> bool:
    """Return whether the path names an object of a project; any caller may ask about an address."""
    return "{" in endpoint.path.replace("{pid}", "").replace("{email}", "")


async def crawled(tenants: Tenants, http: httpx2.AsyncClient) -> None:
    """Request the one tenant's objects from every endpoint as the other tenant."""
    before = await tenants.picture()
    for endpoint in OF_TENANTS:
        name = operation_id(endpoint)
        pids = ("mine", "theirs", str(tenants.theirs))
        for path in paths(endpoint, tenants.variables, *pids):
            answer = await ask(http, endpoint, path, tenants.mine_key)
            is_theirs = "/projects/mine" not in path and "{pid}" in endpoint.path
            # What has the same name with both is put, and cannot be told from one's own.
            if is_theirs or (of_things(endpoint) and endpoint.method != "PUT"):
                assert answer.status_code in (404, 204), (name, path, answer.text)
                if answer.status_code == 204:
                    assert endpoint.method == "DELETE", (name, path)
            else:
                assert answer.status_code < 500, (name, path, answer.text)
                assert answer.is_error or MARK not in answer.text, (name, answer.text)
    assert await tenants.picture() == before


async def test_nothing_of_others_is_seen_or_changed(tenants: Tenants) -> None:
    async with serving(Runtime, tenants.pool, tenants.settings) as http:
        await crawled(tenants, http)


async def test_nor_with_the_databases_line_switched_off(tenants: Tenants) -> None:
    async with tenants.serving(acts_for=None) as http:
        await crawled(tenants, http)


async def test_nor_with_the_statements_line_switched_off(tenants: Tenants) -> None:
    """The code asks for the wrong project: row-level security does not show it."""
    before = await tenants.picture()

    async with tenants.serving(acts_for=tenants.mine) as http:
        for endpoint in OF_TENANTS:
            if endpoint.once_is is Once.ITSELF:
                continue  # mail is accepted in transactions for many callers at once
            for path in paths(endpoint, tenants.variables, "theirs"):
                answer = await ask(http, endpoint, path, tenants.their_key)
                seen = answer.is_success and MARK in answer.text
                assert not seen, (operation_id(endpoint), answer.text)

    assert await tenants.picture() == before


async def test_the_crawl_would_see_what_can_be_seen(tenants: Tenants) -> None:
    seen = set()
    async with serving(Runtime, tenants.pool, tenants.settings) as http:
        for endpoint in OF_TENANTS:
            if endpoint.method == "GET":
                for path in paths(endpoint, tenants.variables, "theirs"):
                    answer = await ask(http, endpoint, path, tenants.their_key)
                    if answer.is_success and MARK in answer.text:
                        seen.add(operation_id(endpoint))
    shown = {operation_id(each) for each in OF_TENANTS if each.method == "GET"}

    assert shown - seen <= WITHOUT_MARK


# Their answers contain nothing of any project.
WITHOUT_MARK = {
    "get_analytics_overview",  # counts, which tests/api/analytics tells apart
    "get_analytics_timeseries",
    "get_analytics_heatmap",
    "get_analytics_templates",
    "get_analytics_providers",
    "get_batches_batch_id",
    "get_dkim_check",
    "get_lists_list_count",
    "get_projects_pid_byok",
    "get_projects_pid_smtp_configs_config_id_health",
    "get_projects_pid_templates_template_versions_diff",
    "get_projects_pid_smtp_configs_config_id_webhook",
    "get_schedule_schedule_id_estimate",
    "get_schedule_schedule_id_next_runs",
    "get_schedule_schedule_id_runs",
    "get_schedule_schedule_id_runs_number",
    "get_schedule_schedule_id_runs_number_recipients",
    "get_suppressions_check",
    "get_suppressions_email_hash_erase",
    "get_tracking_domain",
    "get_tracking_keys",
    "get_webhooks_event_types",
}


async def test_a_transaction_without_a_project_sees_no_project(tenants: Tenants) -> None:
    """The API's role sees a project only where a transaction names it."""
    readable = """
        SELECT c.relname::text FROM pg_class AS c
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'project_id'
         AND NOT a.attisdropped
        WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p', 'v')
          AND NOT c.relispartition
          AND has_column_privilege('mailqueue_api', c.oid, a.attnum, 'SELECT')
          AND c.relname NOT LIKE 'template%'
    """
    counted: dict[str, list[int]] = {}
    async with tenants.pool.connection() as conn:
        for (table,) in await make.rows(conn, readable):
            for project in ("", str(tenants.mine), str(tenants.theirs), "*"):
                async with conn.transaction():
                    await conn.execute("SET LOCAL ROLE mailqueue_api")
                    await make.scalar(
                        conn, "SELECT set_config('mailqueue.project', %s, true)", project
                    )
                    query = f"SELECT count(*) FROM mailqueue.{table} WHERE project_id = %s"
                    count = int(await make.scalar(conn, query, tenants.theirs))
                    counted.setdefault(table, []).append(count)

    assert {table: some for table, some in counted.items() if some[:2] != [0, 0]} == {}
    assert all(some[2] == some[3] for some in counted.values())
    assert sum(some[2] > 0 for some in counted.values()) > 5
