"""A project with one live row of every kind, a key of each mode, and all APIs."""

import base64
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx2

from mailqueue.api.app import create_app
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.table import ENDPOINTS, SHAPES
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, connect, open_pool
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.nameserver import NameServer
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.comparing import exported
from tests.api.support.tenancy import ADDRESS, MAIL, MARK, furnished
from tests.api.support.wired import MASTER
from tests.mail.claim.steps import claim, settle

PROJECT = "both"
SUPPRESSED = f"no-{ADDRESS}"
NO_TOPIC = "0197b8f0-0000-7000-8000-0000000000c1"
OF_KEYS = [each for each in ENDPOINTS if not each.superadmin]
OF_SHAPES = [(shape.name, each) for shape in SHAPES for each in shape.endpoints]
# Counts of requests, and when a key was last used: no business of a mode's.
VOLATILE = "'{last_used_at,last_used_from}'::text[]"
TABLES = """
    SELECT c.relname::text,
           EXISTS (SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = c.oid AND a.attname = 'is_test' AND NOT a.attisdropped)
    FROM pg_class AS c
    WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition AND c.relname NOT IN ('request_buckets', 'limit_counters')
    ORDER BY 1
"""
Picture = dict[str, Counter[str]]


@dataclass(frozen=True, slots=True)
class Modes:
    """The client, both keys, and the values of path variables: ids of live rows."""

    http: httpx2.AsyncClient
    database: DatabaseSettings
    pool: Pool
    live: str
    test: str
    variables: dict[str, str]
    emails: dict[str, str]  # ids of live mail by state

    async def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> httpx2.Response:
        given = {"X-API-Key": key or self.test}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        more = {} if body is None else {"json": body}
        return await self.http.request(method, path, headers=given, **more)

    async def made(self, path: str, body: Any, *, key: str | None = None) -> Any:
        """Send a POST that must succeed, and return the response."""
        answer = await self.call("POST", path, body, key=key)
        assert answer.is_success, (path, answer.text)
        return answer.json()

    async def picture(self) -> Picture:
        """Return every row of every table."""
        async with self.pool.connection() as conn:
            return await picture(conn)


async def picture(conn: Conn) -> Picture:
    found: Picture = {}
    for table, has_mode in await make.rows(conn, TABLES):
        mark = "CASE WHEN is_test THEN 'test ' ELSE '' END" if has_mode else "''"
        query = f"SELECT {mark} || (to_jsonb(t) - {VOLATILE})::text FROM mailqueue.{table} AS t"
        found[table] = Counter(row[0] for row in await make.rows(conn, query))
    return found


def changes(before: Picture, after: Picture) -> dict[str, list[str]]:
    """Return rows that were deleted or changed, and new rows with a mode other than test. Pure."""
    found: dict[str, list[str]] = {}
    for table, rows in before.items():
        gone = rows - after[table]
        new = after[table] - rows
        with_mode = [row for row in new if '"is_test": false' in row]
        if gone or with_mode:
            found[table] = [*gone, *with_mode]
    return found


@asynccontextmanager
async def both_modes(url: str) -> AsyncIterator[Modes]:
    """Fill a database, and serve the API."""
    database = DatabaseSettings(Secret(url))
    settings = replace(
        settings_for(database),
        master_key=Secret(MASTER),
        name_servers=(NameServer("127.0.0.1", 9),),  # no server: the error comes at once
    )
    async with connect(database) as conn:
        project = await make.project(conn, PROJECT)
        await make.sender_account(conn, name="pit", provider="trap", project_id=project)
        live, test = [
            (await issue_key(conn, PROJECT, name, is_test=is_test, requests_per_second=10_000))
            for name, is_test in (("lion", False), ("mouse", True))
        ]
    async with open_pool(database) as pool:
        app = create_app(settings, pool, services=build_services(settings, pool))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            key = live.key.reveal()
            emails = await _emails(http, database, key)
            variables = await furnished(http, key, PROJECT)
            upload = await http.post(
                "/v1/attachments?filename=zebra.png",
                content=b"\x89PNG\r\n\x1a\nzebra",
                headers={"X-API-Key": key, "Content-Type": "image/png"},
            )
            variables["upload"] = upload.json()["id"]
            variables |= await _resend_webhook(http, key)
            async with connect(database) as conn:
                await exported(conn, MARK)
            emails["pending"] = variables["email_id"]
            yield Modes(http, database, pool, key, test.key.reveal(), variables, emails)


async def _resend_webhook(http: httpx2.AsyncClient, key: str) -> dict[str, str]:
    """Add a webhook in Resend's format, which its API shows; return it and a delivery to it."""
    headers, body = {"X-API-Key": key}, {"url": "https://b.example.com/hooks", "format": "resend"}
    added = await http.post("/v1/webhooks", json=body, headers=headers)
    webhook_id = added.json()["webhook"]["id"]
    tried = await http.post(f"/v1/webhooks/{webhook_id}/test", json={}, headers=headers)
    return {"resend_webhook": webhook_id, "resend_delivery": tried.json()["delivery_id"]}


async def _emails(http: httpx2.AsyncClient, database: DatabaseSettings, key: str) -> dict[str, str]:
    """Send live mails by a relay, one for each final state."""
    body = {"credentials": {"host": "a.example.com", "port": 25}, "provider_type": "smtp"}
    await http.post(
        f"/v1/projects/{PROJECT}/smtp-configs",
        json=body | {"name": "real"},
        headers={"X-API-Key": key},
    )
    found = {}
    for state, ending in (("sent", Ending.SENT), ("failed", Ending.FAILED), ("held", None)):
        sent = await http.post("/v1/send", json=MAIL, headers={"X-API-Key": key})
        assert sent.status_code == 202, sent.text
        found[state] = sent.json()["id"]
        async with connect(database) as conn:
            if ending is None:
                await conn.execute("UPDATE mailqueue.email_queue SET status = 'held'")
                continue
            claims = await claim(conn, await make.worker(conn))
            assert len(claims) == 1
            log = LogStatus.SENT if ending is Ending.SENT else LogStatus.FAILED
            await settle(conn, claims, ending, log=log, reason=None if log == "sent" else "no")
    return found


def paths(endpoint: Endpoint, modes: Modes) -> Iterator[str]:
    """Yield the path with ids of live rows in place of its variables, for mail in every state."""
    given = {**modes.variables, "pid": PROJECT, "domain": "example.com", "attachment_id": "0"}
    given |= {"stream": "outbound", "address": SUPPRESSED, "email": SUPPRESSED, "group_id": "7"}
    given |= {"suppression": SUPPRESSED, "bounce_id": "1", "page": "x", "webhook_number": "1"}
    given |= {"domain_id": modes.variables["dkim"], "domain_number": "1"}
    given |= {"list_address": "dev@example.com", "member": SUPPRESSED, "login": "alice"}
    given |= {"event": "clicked", "template_id": MARK, "version_id": "1"}
    given |= dict.fromkeys(("segment", "segment_id"), modes.variables["list_id"])
    given |= {"topic_id": NO_TOPIC, "tag": "initial", "new_tag": "copied"}
    if endpoint.path.startswith("/webhooks/"):
        webhook, delivery = modes.variables["resend_webhook"], modes.variables["resend_delivery"]
        given |= {"webhook_id": webhook, "delivery_id": delivery}
    given |= {"trigger_number": "1", "rule_number": "1", "inbound_id": NO_TOPIC}
    given |= dict.fromkeys(("received_id", "broadcast_id", "property_id"), NO_TOPIC)
    given |= dict.fromkeys(("automation_id", "run_id"), NO_TOPIC)
    given |= {"field_name": "plan", "identifier_type": "email"}
    given |= {"sender_number": "1", "contact_id": modes.variables["contact"]}
    given["key_id"] = modes.variables["dkim" if "/dkim" in endpoint.path else "api-keys"]
    names = {"{email_id}", "{message_id}"}
    if not any(name in endpoint.path for name in names):
        yield endpoint.path.format(**given)
        return
    for email_id in modes.emails.values():
        yield endpoint.path.format(**given | {"email_id": email_id, "message_id": email_id})


def credentials(shape: str, key: str) -> dict[str, str]:
    """Return the headers by which clients of an API authenticate. Pure."""
    match shape:
        case "postmark":
            return {"X-Postmark-Server-Token": key, "Accept": "application/json"}
        case "mailgun":
            return {"Authorization": "Basic " + base64.b64encode(f"api:{key}".encode()).decode()}
        case _:
            return {"Authorization": f"Bearer {key}"}
