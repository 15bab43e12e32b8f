"""`/admin/templates`: templates of the platform, which projects use unless they have their own."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.api.admin.templates import ENDPOINTS
from mailqueue.api.templates import endpoints as of_projects
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.administering import Administering, administering

pytestmark = pytest.mark.anyio

WORDS = {"subject": "Your code", "html_body": "<p>{{ code }} {% include 'foot' %}</p>"}
SHOWN = {"variables": {"code": "<1234>"}}


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def removed(admin: Administering, path: str) -> int:
    """Send DELETE, which answers no document; return the status."""
    headers = {"Authorization": f"Bearer {admin.token}"}
    return (await admin.http.delete(f"/admin{path}", headers=headers)).status_code


async def key_of(admin: Administering, project: str) -> dict[str, str]:
    async with admin.conn() as conn:
        return {"X-API-Key": (await issue_key(conn, project, "k", is_test=False)).key.reveal()}


async def test_a_template_is_made_published_and_used_by_every_project(
    admin: Administering,
) -> None:
    headers = await key_of(admin, "default")
    seen_at = "/v1/projects/default/templates"
    await admin("PUT", "/template-parts/foot", {"source": "Acme"})
    made = await admin("POST", "/templates", {"slug": "otp", "name": "Code"}, status=201)
    version = await admin("POST", "/templates/otp/versions", WORDS, status=201)
    assert (made["is_platform"], version["version"], version["status"]) == (True, 1, "draft")
    tried = await admin("POST", "/templates/otp/preview", SHOWN)
    assert tried["html_body"] == "<p>&lt;1234&gt; Acme</p>"

    await admin("POST", f"/templates/{made['id']}/versions/1/publish")
    (listed,) = (await admin.http.get(seen_at, headers=headers)).json()["data"]
    mail = {"to": ["ann@example.com"], "template_slug": "otp", "variables": {"code": "1"}}
    answer = await admin.http.post("/v1/send/template", json=mail, headers=headers)
    assert (listed["id"], listed["published_version"]) == (made["id"], 1)
    assert answer.is_success, answer.text

    changed = await admin("PUT", "/templates/otp", {"name": "One-time code"})
    await admin("POST", "/templates/otp/versions", WORDS | {"subject": "Code"}, status=201)
    diff = await admin("GET", "/templates/otp/versions/diff?from=1&to=2")
    assert changed["name"] == "One-time code"
    assert "-Your code\n+Code\n" in diff["diff"]
    await admin("POST", "/templates/otp/versions/1/archive")
    numbers = [each["version"] for each in (await admin("GET", "/templates/otp/versions"))["data"]]
    assert numbers == [2, 1]
    assert (await admin("GET", "/templates/otp"))["published_version"] is None

    assert await removed(admin, "/templates/otp") == 204
    assert await removed(admin, "/template-parts/foot") == 204
    await admin("GET", "/templates/otp", status=404)
    assert (await admin("GET", "/templates"))["data"] == []
    log = await admin("GET", "/audit-log?action=template")
    assert {each["actor"] for each in log["data"]} == {"ann (token)"}
    assert {each["project"] for each in log["data"]} == {None}
    assert "template.published" in {each["action"] for each in log["data"]}


async def test_a_projects_own_template_replaces_the_platforms(admin: Administering) -> None:
    async with admin.conn() as conn:
        await make.project(conn, "shop")
    headers = await key_of(admin, "shop")
    await admin("POST", "/templates", {"slug": "otp"}, status=201)
    words = {"subject": "Hi", "text_body": "Hi"}
    await admin("POST", "/templates/otp/versions", words, status=201)
    await admin("POST", "/templates/otp/versions/1/publish")

    copy = await admin("POST", "/templates/otp/clone", {"project_id": "shop"}, status=201)
    twice = await admin("POST", "/templates/otp/clone", {"project_id": "shop"}, status=409)
    again = await admin("POST", "/templates/otp/clone", {"slug": "otp-2"}, status=201)
    await admin("POST", "/templates/otp/clone", {"project_id": "nowhere"}, status=404)
    listed = (await admin.http.get("/v1/projects/shop/templates", headers=headers)).json()["data"]

    assert (copy["is_platform"], again["is_platform"]) == (False, True)
    assert twice["name"] == "conflict"
    assert [(each["slug"], each["id"]) for each in listed] == [
        ("otp", copy["id"]),
        ("otp-2", again["id"]),
    ]
    owned = [each["slug"] for each in (await admin("GET", "/templates"))["data"]]
    assert owned == ["otp", "otp-2"]


async def test_templates_of_projects_are_not_the_platforms(admin: Administering) -> None:
    async with admin.conn() as conn:
        theirs = await make.template(conn, await make.project(conn, "shop"), name="Theirs")
    for method, path, body in (
        ("GET", f"/templates/{theirs}", None),
        ("PUT", f"/templates/{theirs}", {"name": "Mine"}),
        ("POST", f"/templates/{theirs}/versions", {"subject": "x", "text_body": "x"}),
        ("POST", f"/templates/{theirs}/clone", {"slug": "mine"}),
        ("POST", f"/templates/{theirs}/preview", {}),
    ):
        await admin(method, path, body, status=404)
    assert await removed(admin, f"/templates/{theirs}") == 404
    assert (await admin("GET", "/templates"))["data"] == []


async def test_a_key_of_a_project_is_no_token(admin: Administering) -> None:
    headers = await key_of(admin, "default")

    answer = await admin.http.get("/admin/templates", headers=headers)

    assert answer.status_code == 401


def test_the_platforms_templates_have_every_endpoint_of_a_projects() -> None:
    assert len(ENDPOINTS) == len(of_projects.ENDPOINTS)
    assert all(each.superadmin and each.path.startswith("/admin/template") for each in ENDPOINTS)
    assert all(each.scope is None and each.test_keys is None for each in ENDPOINTS)
