"""Two equal projects with one row of every kind, and the API called for either."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import httpx2
from starlette.applications import Starlette

from mailqueue.api.http.middleware import RequestMiddleware
from mailqueue.api.http.responses import answer_fault
from mailqueue.api.http.router import Routing
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.table import ENDPOINTS
from mailqueue.contract.automation.bridge import ConsumptionState
from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, connect, open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.nameserver import NameServer
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support import importing
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.comparing import ab_test, exported
from tests.api.support.wired import MASTER
from tests.bridge.keeping import note_queue, unhandled
from tests.templates.pictures import drawing

MARK = "zebra"
"""A text in every field of the one tenant that could be shown."""
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
    """Two equal projects, the keys of both, and values for path variables."""

    pool: Pool
    settings: Any
    mine: UUID
    mine_key: str
    theirs: UUID
    their_key: str
    variables: dict[str, str]

    @asynccontextmanager
    async def serving(self, *, acts_for: UUID | None = None) -> AsyncIterator[httpx2.AsyncClient]:
        """Serve the API; transactions act for all projects, or always for one."""

        class Bent(Runtime):
            @asynccontextmanager
            async def transaction(
                self,
                tenant: UUID | None,  # noqa: ARG002
                *,
                by: str,
                key_id: UUID | None = None,
                is_test: bool | None = None,
                is_read_only: bool = False,
                is_report: bool = False,
            ) -> AsyncIterator[Conn]:
                async with Runtime.transaction(
                    self,
                    acts_for,
                    by=by,
                    key_id=key_id,
                    is_test=is_test,
                    is_read_only=is_read_only,
                    is_report=is_report,
                ) as conn:
                    yield conn

        async with serving(Bent, self.pool, self.settings) as http:
            yield http

    async def picture(self) -> dict[str, Any]:
        """Return every row of the one tenant, to check that none was changed."""
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
    app = RequestMiddleware(Starlette(routes=routes, exception_handlers={Exception: answer_fault}))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
        yield http


@asynccontextmanager
async def two_tenants(url: str) -> AsyncIterator[Tenants]:
    """Fill a database with both projects."""
    database = DatabaseSettings(Secret(url))
    settings = replace(
        settings_for(database),
        master_key=Secret(MASTER),
        name_servers=(NameServer("127.0.0.1", 9),),  # no server: the error comes at once
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
        async with connect(database) as conn:
            await make.logged_attempts(conn, MARK, 1, "sent", 1)
            variables |= await notified(conn)
            variables["letter_id"] = await dead_letter(conn, "theirs")
            await exported(conn, MARK)
        yield Tenants(
            pool,
            settings,
            ids[0],
            keys[0].key.reveal(),
            ids[1],
            keys[1].key.reveal(),
            variables,
        )


async def notified(conn: Conn) -> dict[str, str]:
    """Create a notification of the inbox and channel; return the value that names it in paths."""
    await conn.execute("UPDATE mailqueue.notification_channels SET last_error = %s", (MARK,))
    found = await make.scalar(
        conn,
        "INSERT INTO mailqueue.notifications (project_id, user_id, email_account_id,"
        " notification_channel_id, subject, email_received_at)"
        " SELECT c.project_id, c.user_id, m.id, c.id, %s, now()"
        " FROM mailqueue.notification_channels AS c JOIN mailqueue.mailboxes AS m"
        " ON m.user_id = c.user_id RETURNING id",
        MARK,
    )
    return {"notification_id": str(found)}


async def watched(made: Any) -> dict[str, str]:
    """Create an inbox user with all that belongs to one; return the values in paths."""
    owner = (await made("/v1/inbox-users", {"email": ADDRESS}))["id"]
    inbox = {
        "user_id": owner,
        "email_address": ADDRESS,
        "host": f"{MARK}.example.com",
        "password": MARK,
    }
    slack = {"user_id": owner, "bot_token": f"xoxb-{MARK}-example", "slack_channel_id": "C01"}
    rule = {"user_id": owner, "rule_type": "subject", "pattern": MARK}
    muted = {"user_id": owner, "sender_address": ADDRESS}
    return {
        "inbox_user_id": owner,
        "inbox_id": (await made("/v1/inboxes", inbox))["id"],
        "channel_id": (await made("/v1/channels", slack))["id"],
        "filter_rule_id": (await made("/v1/filter-rules", rule))["id"],
        "muted_sender_id": (await made("/v1/muted-senders", muted))["id"],
        "notification_id": str(uuid4()),
    }


async def dead_letter(conn: Conn, project: str) -> str:
    """Return the id of a message of RabbitMQ that could not be handled."""
    await note_queue(conn, project, queue=MARK, state=ConsumptionState.WAITING, reason=MARK)
    named = {"messageId": str(uuid4()), "messageType": [f"urn:message:{MARK}"]}
    message = write_json({**named, "message": {"to": ADDRESS}})
    return str(await unhandled(conn, project, MARK, queue=MARK, body=message))


async def furnished(http: httpx2.AsyncClient, key: str, project: str) -> dict[str, str]:
    """Create one row of every kind in a project; return the values that name them in paths."""

    async def made(path: str, body: Any, method: str = "POST") -> Any:
        answer = await http.request(method, path, json=body, headers={"X-API-Key": key})
        assert answer.is_success, (path, answer.text)
        return answer.json()

    base = f"/v1/projects/{project}"
    relay = await made(f"{base}/smtp-configs", RELAY)
    route = await made(f"{base}/routes", {"senders": [MARK], "tag": MARK, "note": MARK})
    sent = await made("/v1/send", MAIL)
    batch = await made(
        "/v1/send/batch",
        {"subject": MARK, "text_body": MARK, "recipients": [{"email": ADDRESS}]},
    )
    operation = await made(
        "/v1/operations", {"verb": "hold", "filter": {"subject": MARK}, "reason": MARK}
    )
    compared = await made("/v1/analytics/ab-tests", ab_test(MARK))
    wanted = {"kind": "emails", "filter": {"campaign": MARK}}
    export = await made("/v1/analytics/export", wanted)
    content = f"email,last_name\nim-{ADDRESS},{MARK}\n"
    issued = await made(f"{base}/api-keys", {"name": f"{MARK} two", "scopes": ["email:read"]})
    dkim = await made("/v1/dkim", {"domain": f"{MARK}.example.com"})
    await made("/v1/suppressions", {"emails": [f"no-{ADDRESS}"], "reason": "manual"})
    await made(f"{base}/templates", {"slug": MARK, "name": MARK, "category": "system"})
    version = {"subject": MARK, "html_body": f"<p>{MARK}</p>", "text_body": MARK}
    drafted = await made(f"{base}/templates/{MARK}/versions", version)
    await made(f"{base}/templates/{MARK}/versions/{drafted['version']}/publish", None)
    await made(f"{base}/template-parts/footer", {"kind": "partial", "source": MARK}, "PUT")
    hook = await made("/v1/webhooks", {"url": f"https://{MARK}.example.com/", "description": MARK})
    webhook_id = hook["webhook"]["id"]
    await made("/v1/outboxes", {"name": MARK, "target": webhook_id})
    tried = await made(f"/v1/webhooks/{webhook_id}/test", {})
    await made("/v1/categories", {"slug": MARK, "name": MARK})
    await made(f"{base}/pauses", {"kind": "campaign", "name": MARK, "reason": MARK})
    rule = {"name": MARK, "event_type": MARK, "template": MARK, "recipient": "$.to"}
    await made("/v1/event-rules", {**rule, "is_enabled": True})
    told = {"message_id": str(uuid4()), "type": MARK, "payload": {"to": ADDRESS}}
    await made("/v1/events", told)
    due = {"kind": MARK, "at": "2050-01-01T00:00:00Z", "template": MARK, "recipient": ADDRESS}
    timed = await made("/v1/timed-events", due | {"payload": {"word": MARK}})
    await made("/v1/birthdays", {"template": MARK}, "PUT")
    contact = await made("/v1/contacts", {"email": f"who-{ADDRESS}", "last_name": MARK})
    listing = await made("/v1/lists", {"name": MARK, "description": MARK})
    await made(f"/v1/lists/{MARK}/members", {"contacts": [contact["id"]]})
    scheduled = await made(
        "/v1/schedule",
        {
            "name": MARK,
            "schedule_type": "cron",
            "cron_expression": "0 9 1 1 *",
            "payload": {"to": [ADDRESS], "subject": MARK, "text_body": MARK},
        },
    )
    await made(f"/v1/schedule/{scheduled['id']}/runs", None)
    steps = [{"name": "one", "template": MARK, "delay": "1d"}]
    await made("/v1/sequences", {"name": MARK, "category": MARK, "steps": steps})
    await made(f"/v1/sequences/{MARK}/publish", {})
    enrolled = await made(f"/v1/sequences/{MARK}/enrollments", {"email": f"en-{ADDRESS}"})
    listed = await http.get("/v1/suppressions", headers={"X-API-Key": key})
    return {
        **await watched(made),
        "email_id": sent["id"],
        "batch_id": batch["batch_id"],
        "operation_id": operation["id"],
        "export_id": export["id"],
        **await importing.begun(http, key, content),
        **await drawing.uploaded(http, key, base, MARK),
        "ab_test_id": compared["id"],
        "schedule_id": scheduled["id"],
        "number": "1",
        "config_id": str(relay["id"]),
        "route_id": str(route["rule_id"]),
        "rule": MARK,
        "contact": contact["id"],
        "list": MARK,
        "list_id": listing["id"],
        "sequence": MARK,
        "enrollment_id": enrolled["enrollment_id"],
        "outbox": MARK,
        "event_id": told["message_id"],
        "timed_event_id": timed["event"]["id"],
        "letter_id": str(uuid4()),
        "email_hash": listed.json()["data"][0]["email_hash"],
        "template": MARK,
        "version": str(drafted["version"]),
        "name": "footer",
        "api-keys": issued["id"],
        "dkim": str(dkim["id"]),
        "webhook_id": webhook_id,
        "delivery_id": tried["delivery_id"],
        "email": ADDRESS,
        "slug": MARK,
        "tracking_key": (await made("/v1/tracking-keys/rotate", {}))["data"][0]["id"],
    }
