"""A project with one of each thing, and the requests that read them, from the OpenAPI document."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx2

from mailqueue.admin import administrators
from mailqueue.contract.background import ImportKind
from mailqueue.db.pool import connect
from tests.api.support.document import DOCUMENT
from tests.api.support.tenancy import dead_letter, notified
from tests.clients.serving import Served
from tests.stream.reading import read_stream
from tests.templates.pictures import drawing

ASKING_DNS = {"/v1/dkim/check"}
ANN = "ann@example.com"
MESSAGE = "0197b8f0-0000-7000-8000-000000000081"
BASE = "/v1/projects/default"


_COUNTED = """
WITH recipient AS (
    INSERT INTO mailqueue.schedule_recipients (run_id, email_key, project_id, status)
    SELECT r.id, 'ann@example.com', r.project_id, 'queued' FROM mailqueue.schedule_runs AS r
), failing AS (
    INSERT INTO mailqueue.queue_keys (queue, key, failures, failing_since)
    VALUES ('notifications', 'slack', 1, now())
)
INSERT INTO mailqueue.stats_quarters (project_id, is_test, dimension, value, value2, started_at,
                                      sent)
SELECT t.project_id, false, 'template', t.id::text, '', date_trunc('hour', now()), 1
FROM mailqueue.templates AS t WHERE t.project_id IS NOT NULL
"""


def seed(site: Served) -> tuple[str, dict[str, str]]:
    """Return the token of an administrator, and values of path and query parameters."""
    token: str = site.run(_administrator(site))
    _administer(site, token)
    with httpx2.Client(base_url=site.url, headers={"X-API-Key": site.keys.live}) as http:

        def made(path: str, body: Any, method: str = "POST") -> Any:
            answer = http.request(method, path, json=body)
            assert answer.is_success, f"{path}: {answer.text}"
            return answer.json()

        site.add_template("welcome", subject="Hello", html="<p>Hello</p>")
        made(f"{BASE}/template-parts/footer", {"kind": "partial", "source": "<p>x</p>"}, "PUT")
        made(f"{BASE}/pauses", {"kind": "campaign", "name": "spring"})
        picture = _uploaded(http)
        made("/v1/tracking-keys/rotate", {})
        made("/v1/categories", {"slug": "news", "name": "News"})
        made("/v1/suppressions", {"email": "bob@example.com"})
        rule = {"event_type": "OrderPlaced", "template": "welcome", "recipient": "$.to"}
        made("/v1/event-rules", {**rule, "name": "placed", "is_enabled": True})
        event = {"type": "OrderPlaced", "payload": {"to": ANN}, "message_id": MESSAGE}
        made("/v1/events", event)
        hook = made("/v1/webhooks", {"url": "https://hooks.example.com/mail"})["webhook"]["id"]
        made("/v1/outboxes", {"name": "orders", "target": hook})
        batch = made(
            "/v1/send/batch",
            {"subject": "s", "text_body": "t", "recipients": [{"email": ANN}]},
        )
        held = {"verb": "hold", "filter": {"subject": "spring sale"}}
        operation = made("/v1/operations", held)["id"]
        email = made("/v1/send", {"to": [ANN], "subject": "s", "text_body": "t"})["id"]
        made(f"/v1/emails/{email}/cancel", {})
        signing = made("/v1/dkim", {"domain": "example.com", "algorithm": "ed25519"})["id"]
        key = http.get(f"{BASE}/api-keys").json()["data"][0]["id"]
        site.run(_read_the_stream(site))
        delivery = http.get(f"/v1/webhooks/{hook}/deliveries").json()["data"][0]["id"]
        sender = made(
            f"{BASE}/smtp-configs",
            {"name": "api", "provider_type": "postmark", "credentials": {"server_token": "x"}},
        )["id"]
        route = made(f"{BASE}/routes", {"senders": ["api"], "tag": "receipts"})["rule_id"]
        export = made("/v1/analytics/export", {"kind": "suppressions"})["id"]
        begun, refusing = [
            http.post(f"/v1/{kind}/imports", content="email\neve@example.com\n")
            for kind in ImportKind
        ]
        shares = [{"name": one, "share": 50, "subject": one} for one in ("A", "B")]
        compared = {"name": "spring", "html_body": "<p>Hello</p>", "variants": shares}
        test = made("/v1/analytics/ab-tests", compared)["id"]
        later = _automated(made) | _watched(made)
    later |= site.run(_from_outside(site))
    return token, later | {
        "pid": "default",
        "id": "default",
        "template": "welcome",
        "version": "1",
        "name": "footer",
        "slug": "news",
        "rule": "placed",
        "outbox": "orders",
        "event_id": MESSAGE,
        "webhook_id": hook,
        "picture_id": picture,
        "delivery_id": delivery,
        "batch_id": batch["batch_id"],
        "operation_id": operation,
        "email_id": email,
        "email": ANN,
        "email_hash": "bob@example.com",
        "config_id": sender,
        "route_id": str(route),
        "export_id": export,
        "import_id": begun.json()["id"],
        "suppression_import_id": refusing.json()["id"],
        "ab_test_id": test,
        "key_id": key,
        "dkim_key_id": signing,
        "q": ANN,
        "from": "1",
        "to": "1",
        "domain": "example.com",
    }


def _automated(made: Callable[..., Any]) -> dict[str, str]:
    """Create a contact, a list, a schedule, a sequence and timed events; return their values."""
    contact = made("/v1/contacts", {"email": "cal@example.com"})["id"]
    made("/v1/lists", {"name": "friends"})
    made("/v1/lists/friends/members", {"contacts": [contact]})
    message = {"to": [ANN], "subject": "s", "text_body": "t"}
    cron = {"schedule_type": "cron", "cron_expression": "0 9 1 1 *"}
    schedule = made("/v1/schedule", {"name": "yearly", **cron, "payload": message})["id"]
    made(f"/v1/schedule/{schedule}/runs", None)
    steps = [{"name": "one", "template": "welcome", "delay": "1d"}]
    made("/v1/sequences", {"name": "onboarding", "category": "news", "steps": steps})
    made("/v1/sequences/onboarding/publish", {})
    enrolled = made("/v1/sequences/onboarding/enrollments", {"email": "dan@example.com"})
    due = {"kind": "renewal", "at": "2050-01-01T00:00:00Z", "template": "welcome"}
    timed = made("/v1/timed-events", {**due, "recipient": ANN})["event"]["id"]
    made("/v1/birthdays", {"template": "welcome"}, "PUT")
    return {
        "contact": contact,
        "list": "friends",
        "schedule_id": schedule,
        "number": "1",
        "sequence": "onboarding",
        "enrollment_id": enrolled["enrollment_id"],
        "timed_event_id": timed,
    }


def _uploaded(http: httpx2.Client) -> str:
    """Upload a picture; return its id."""
    path = f"{BASE}/template-pictures"
    answer = http.post(path, params={"name": "logo.png"}, content=drawing.png())
    assert answer.is_success, answer.text
    return str(answer.json()["id"])


def _watched(made: Callable[..., Any]) -> dict[str, str]:
    """Create an inbox user with an inbox, a channel and a rule; return their values."""
    owner = made("/v1/inbox-users", {"email": ANN})["id"]
    inbox = {"email_address": ANN, "host": "imap.example.com", "password": "x"}
    slack = {"bot_token": "xoxb-1234567890-example", "slack_channel_id": "C01"}
    rule = {"rule_type": "subject", "pattern": "invoice"}
    muted = {"user_id": owner, "sender_address": "shop@example.com"}
    return {
        "inbox_user_id": owner,
        "inbox_id": made("/v1/inboxes", {"user_id": owner, **inbox})["id"],
        "channel_id": made("/v1/channels", {"user_id": owner, **slack})["id"],
        "filter_rule_id": made("/v1/filter-rules", {"user_id": owner, **rule})["id"],
        "muted_sender_id": made("/v1/muted-senders", muted)["id"],
    }


async def _from_outside(site: Served) -> dict[str, str]:
    """Write what workers write; return the values of a notification and a dead letter."""
    async with connect(site.database) as conn:
        await conn.execute(_COUNTED)
        return await notified(conn) | {"letter_id": await dead_letter(conn, "default")}


async def _read_the_stream(site: Served) -> None:
    """Write the deliveries of what has happened, as a worker does."""
    async with connect(site.database) as conn:
        await read_stream(conn)


async def _administrator(site: Served) -> str:
    async with connect(site.database) as conn:
        return (await administrators.create(conn, "ann", by="tests")).token.reveal()


def _administer(site: Served, token: str) -> None:
    """Bind the login of this server to its project, add a user and templates of the platform."""
    ((login,),) = site.rows("SELECT session_user::text")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=site.url, headers=headers) as http:
        for method, path, body in (
            ("POST", f"/admin/producers/{login}/projects", {"projects": ["default"]}),
            ("POST", "/admin/users", {"name": "ben", "role": "support", "projects": ["default"]}),
            ("POST", "/admin/templates", {"slug": "welcome"}),
            ("POST", "/admin/templates/welcome/versions", {"subject": "s", "text_body": "t"}),
            ("PUT", "/admin/template-parts/footer", {"source": "x"}),
        ):
            answer = http.request(method, path, json=body)
            assert answer.is_success, f"{path}: {answer.text}"


def reads(values: Mapping[str, str]) -> Iterator[tuple[str, str, dict[str, str], dict[str, str]]]:
    """Yield path, operation id and the needed path and query parameters of reads of JSON."""
    for path, methods in DOCUMENT["paths"].items():
        operation = methods.get("get", {})
        content = operation.get("responses", {}).get("200", {}).get("content", {})
        if "application/json" in content and path not in ASKING_DNS:
            found: dict[str, dict[str, str]] = {"path": {}, "query": {}}
            for one in operation.get("parameters", ()):
                if one["required"]:
                    name = "dkim_key_id" if path.startswith("/v1/dkim/") else one["name"]
                    found[one["in"]][one["name"]] = values[name]
            yield path, operation["operationId"], found["path"], found["query"]
