"""Two tenants crawl each other's things by every endpoint, with each line switched off in turn.

The first line is that every statement names the caller's project; the second, that the database
shows a transaction one project only. A tenant must see nothing with either alone.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import httpx2
import pytest
from starlette.applications import Starlette

from mailqueue.api.answers import answer_fault
from mailqueue.api.edge import Edge
from mailqueue.api.endpoint import Endpoint, Once
from mailqueue.api.openapi import operation_id
from mailqueue.api.routing import Routing
from mailqueue.api.runtime import Runtime
from mailqueue.api.table import ENDPOINTS
from mailqueue.core.config import DatabaseSettings
from mailqueue.core.nameserver import NameServer
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, connect, open_pool
from mailqueue.tenants.keys import issue_key
from mailqueue.wiring import build_services
from tests import make
from tests.api.calling import ORIGIN, settings_for
from tests.api.wired import MASTER

pytestmark = pytest.mark.anyio

MARK = "zebra"
"""Stands in everything of the one tenant that could be shown."""
ADDRESS = f"{MARK}@example.com"
MAIL = {"to": [ADDRESS], "subject": MARK, "text_body": MARK}
RELAY = {
    "name": MARK,
    "provider_type": "smtp",
    "credentials": {"host": f"{MARK}.example.com", "port": 587, "username": MARK, "password": MARK},
}
# What is asked anew in each run, or counts requests: no business of a tenant's.
VOLATILE = "'{last_used_at,last_used_from}'::text[]"
TABLES = """
    SELECT c.relname::text
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped
     AND a.attname = CASE c.relname WHEN 'projects' THEN 'id' ELSE 'project_id' END
    WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition
    ORDER BY 1
"""
OF_TENANTS = [each for each in ENDPOINTS if not each.superadmin]


@dataclass(frozen=True, slots=True)
class Tenants:
    """Two projects alike, the keys of both, and what stands for the variables of one's paths."""

    pool: Pool
    settings: Any
    mine: UUID
    mine_key: str
    theirs: UUID
    their_key: str
    variables: dict[str, str]

    @asynccontextmanager
    async def serving(self, *, acts_for: UUID | None = None) -> AsyncIterator[httpx2.AsyncClient]:
        """Serve the API; transactions act for all projects, or for that one whoever asks."""

        class Bent(Runtime):
            def transaction(
                self,
                tenant: UUID | None,  # noqa: ARG002
                *,
                by: str,
            ) -> AbstractAsyncContextManager[Conn]:
                return Runtime.transaction(self, acts_for, by=by)

        async with serving(Bent, self.pool, self.settings) as http:
            yield http

    async def picture(self) -> dict[str, Any]:
        """Give every row of the one tenant, to see whether any was touched."""
        async with self.pool.connection() as conn:
            found = {}
            for (table,) in await make.rows(conn, TABLES):
                column = "id" if table == "projects" else "project_id"
                query = (
                    f"SELECT array_agg((to_jsonb(t) - {VOLATILE})::text ORDER BY t::text)"
                    f" FROM mailqueue.{table} AS t WHERE t.{column} = %s"
                )
                found[table] = await make.scalar(conn, query, self.theirs)
            return found


@asynccontextmanager
async def serving(
    kind: type[Runtime], pool: Pool, settings: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    runtime = kind(settings, pool, build_services(settings, pool))
    routes = [Routing(OF_TENANTS, runtime)]
    app = Edge(Starlette(routes=routes, exception_handlers={Exception: answer_fault}))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
        yield http


@pytest.fixture(scope="module")
async def tenants(module_db: str) -> AsyncIterator[Tenants]:
    database = DatabaseSettings(Secret(module_db))
    settings = replace(
        settings_for(database),
        master_key=Secret(MASTER),
        name_servers=(NameServer("127.0.0.1", 9),),  # nobody is there: an answer at once
    )
    async with connect(database) as conn:
        ids = [await make.project(conn, name) for name in ("mine", "theirs")]
        keys = [
            (await issue_key(conn, name, word, is_test=False, requests_per_second=10_000))
            for name, word in (("mine", "lion"), ("theirs", MARK))
        ]
    async with open_pool(database) as pool:
        async with serving(Runtime, pool, settings) as http:
            variables = await furnished(http, keys[1].key.reveal(), "theirs")
        yield Tenants(
            pool,
            settings,
            ids[0],
            keys[0].key.reveal(),
            ids[1],
            keys[1].key.reveal(),
            variables,
        )


async def furnished(http: httpx2.AsyncClient, key: str, project: str) -> dict[str, str]:
    """Make one of everything in a project; give what names it in paths."""

    async def made(path: str, body: Any, method: str = "POST") -> Any:
        answer = await http.request(method, path, json=body, headers={"X-API-Key": key})
        assert answer.is_success, (path, answer.text)
        return answer.json()

    base = f"/v1/projects/{project}"
    relay = await made(f"{base}/smtp-configs", RELAY)
    sent = await made("/v1/send", MAIL)
    batch = await made(
        "/v1/send/batch",
        {"subject": MARK, "text_body": MARK, "recipients": [{"email": ADDRESS}]},
    )
    issued = await made(f"{base}/api-keys", {"name": f"{MARK} two", "scopes": ["email:read"]})
    dkim = await made("/v1/dkim", {"domain": f"{MARK}.example.com"})
    await made("/v1/suppressions", {"emails": [f"no-{ADDRESS}"], "reason": "manual"})
    await made(f"{base}/templates", {"slug": MARK, "name": MARK, "category": "system"})
    version = {"subject": MARK, "html_body": f"<p>{MARK}</p>", "text_body": MARK}
    drafted = await made(f"{base}/templates/{MARK}/versions", version)
    await made(f"{base}/templates/{MARK}/versions/{drafted['version']}/publish", None)
    await made(f"{base}/template-parts/footer", {"kind": "partial", "source": MARK}, "PUT")
    listed = await http.get("/v1/suppressions", headers={"X-API-Key": key})
    return {
        "email_id": sent["id"],
        "batch_id": batch["batch_id"],
        "config_id": str(relay["id"]),
        "email_hash": listed.json()["data"][0]["email_hash"],
        "template": MARK,
        "version": str(drafted["version"]),
        "name": "footer",
        "api-keys": issued["id"],
        "dkim": str(dkim["id"]),
    }


def filled(endpoint: Endpoint, variables: dict[str, str], pid: str) -> str:
    """Give the path with what belongs to the one tenant in the place of variables."""
    given = {**variables, "pid": pid}
    given["key_id"] = variables["dkim" if "/dkim" in endpoint.path else "api-keys"]
    return endpoint.path.format(**given)


def needed_query(endpoint: Endpoint) -> dict[str, str]:
    """Give a value for each parameter an endpoint cannot do without."""
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
    body = {"json": endpoint.example or {}} if endpoint.request else {}
    return await http.request(
        endpoint.method, path, headers={"X-API-Key": key}, params=needed_query(endpoint), **body
    )


def of_things(endpoint: Endpoint) -> bool:
    """Say whether the path names a thing of a project's."""
    return "{" in endpoint.path.replace("{pid}", "")


async def crawled(tenants: Tenants, http: httpx2.AsyncClient) -> None:
    """Have one tenant ask every endpoint for what the other has."""
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
    """The code asks for the project it should not: the database does not show it."""
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


# Their answers say nothing that is anybody's own.
WITHOUT_MARK = {
    "get_batches_batch_id",
    "get_dkim_check",
    "get_emails_email_id_events",
    "get_projects_pid_byok",
    "get_projects_pid_smtp_configs_config_id_health",
    "get_projects_pid_templates_template_versions_diff",
    "get_suppressions_check",
}


async def test_whoever_acts_for_nobody_sees_nobody(tenants: Tenants) -> None:
    """The API's role sees a project only where a transaction says which."""
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
