"""A project with one of each thing, and the requests that read them, from the OpenAPI document."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from mailqueue.administration import administrators
from mailqueue.api.http.openapi.document import openapi
from mailqueue.api.table import ENDPOINTS
from mailqueue.db.pool import connect
from tests.clients.serving import Served

DOCUMENT = openapi(ENDPOINTS)
ASKING_DNS = {"/v1/dkim/check"}
ANN = "ann@example.com"
BASE = "/v1/projects/default"


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
        made("/v1/tracking-keys/rotate", {})
        made("/v1/categories", {"slug": "news", "name": "News"})
        made("/v1/suppressions", {"email": "bob@example.com"})
        hook = made("/v1/webhooks", {"url": "https://hooks.example.com/mail"})["webhook"]["id"]
        batch = made(
            "/v1/send/batch",
            {"subject": "s", "text_body": "t", "recipients": [{"email": ANN}]},
        )
        email = made("/v1/send", {"to": [ANN], "subject": "s", "text_body": "t"})["id"]
        made(f"/v1/emails/{email}/cancel", {})
        signing = made("/v1/dkim", {"domain": "example.com", "algorithm": "ed25519"})["id"]
        key = http.get(f"{BASE}/api-keys").json()["data"][0]["id"]
        delivery = http.get(f"/v1/webhooks/{hook}/deliveries").json()["data"][0]["id"]
        sender = made(
            f"{BASE}/smtp-configs",
            {"name": "api", "provider_type": "postmark", "credentials": {"server_token": "x"}},
        )["id"]
    return token, {
        "pid": "default",
        "id": "default",
        "template": "welcome",
        "version": "1",
        "name": "footer",
        "slug": "news",
        "webhook_id": hook,
        "delivery_id": delivery,
        "batch_id": batch["batch_id"],
        "email_id": email,
        "email": ANN,
        "email_hash": "bob@example.com",
        "config_id": sender,
        "key_id": key,
        "dkim_key_id": signing,
        "from": "1",
        "to": "1",
        "domain": "example.com",
    }


async def _administrator(site: Served) -> str:
    async with connect(site.database) as conn:
        return (await administrators.create(conn, "ann", by="tests")).token.reveal()


def _administer(site: Served, token: str) -> None:
    """Bind the login of this server to its project, and add a user of the console."""
    ((login,),) = site.rows("SELECT session_user::text")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=site.url, headers=headers) as http:
        for path, body in (
            (f"/admin/producers/{login}/projects", {"projects": ["default"]}),
            ("/admin/users", {"name": "ben", "role": "support", "projects": ["default"]}),
        ):
            answer = http.post(path, json=body)
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
