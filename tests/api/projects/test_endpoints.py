"""`/admin/projects`: every operation as documented, for administrators only."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from mailqueue.api.table import ENDPOINTS
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.templates import writing
from tests import make
from tests.api.support.administering import Administering, administering
from tests.templates.making import published

pytestmark = pytest.mark.anyio

HIRING: dict[str, Any] = {
    "slug": "simplify-hiring",
    "name": "SimplifyHiring",
    "from_name": "SimplifyHiring",
    "from_email": "noreply@example.com",
    "reply_to": "support@example.com",
    "timezone": "Asia/Kolkata",
    "daily_send_limit": 500_000,
    "rate_limit_per_sec": 2000,
}


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def test_a_project_is_what_was_asked_for_by_id_and_by_slug(admin: Administering) -> None:
    made = await admin("POST", "/projects", HIRING, status=201)

    assert {name: made[name] for name in HIRING} == HIRING
    assert (made["status"], made["suspended_reason"], made["deleted_at"]) == ("active", None, None)
    assert {each["kind"] for each in made["retention"]} >= {"email_history", "send_logs"}
    assert await admin("GET", f"/projects/{made['id']}") == made
    assert await admin("GET", "/projects/simplify-hiring") == made
    taken = await admin("POST", "/projects", HIRING, status=409)
    assert taken["name"] == "conflict"


async def test_an_update_changes_what_it_names_and_null_takes_back(admin: Administering) -> None:
    made = await admin("POST", "/projects", HIRING, status=201)
    path = f"/projects/{made['id']}"
    settings = {
        "bounce_address": "bounces@example.com",
        "allowed_mime_types": ["application/pdf"],
        "max_attachment_bytes": 1000,
        "postal_address": "1 High Street\nOxford",
        "delivery": "hold",
        "resend_elsewhere": True,
        "require_postal_address": False,
        "unsubscribe_on_all": True,
        "retention": {"email_history": {"hot_days": 30, "keep_days": 30}},
    }

    changed = await admin("PUT", path, settings)
    undone = {"daily_send_limit": None, "name": None, "retention": {"email_history": None}}
    back = await admin("PUT", path, undone)

    kept = [each for each in changed["retention"] if each["is_own"]]
    assert kept == [
        {
            "kind": "email_history",
            "hot_days": 30,
            "warm_days": None,
            "keep_days": 30,
            "is_own": True,
        }
    ]
    assert changed | settings | {"updated_at": 0, "retention": 0} == changed | {
        "updated_at": 0,
        "retention": 0,
    }
    assert (back["daily_send_limit"], back["name"]) == (None, "simplify-hiring")
    assert back["retention"] == made["retention"]
    assert back["postal_address"] == "1 High Street\nOxford"


WRONG: tuple[tuple[str, Any], ...] = (
    ("slug", "new-name"),  # it stays what it is
    ("status", "active"),
    ("colour", "red"),
    ("timezone", "Mars/Olympus"),
    ("daily_send_limit", -1),
    ("daily_send_limit", "many"),
    ("daily_send_limit", True),
    ("rate_limit_per_sec", 0),
    ("from_email", "nobody"),
    ("name", "two\nlines"),
    ("allowed_mime_types", "application/pdf"),
    ("delivery", "perhaps"),
    ("resend_elsewhere", "perhaps"),
    ("retention", {"colours": None}),
    ("retention", {"email_history": {"hot_days": 5, "keep_days": 2}}),
    ("retention", {"email_history": {"keep_days": 2}}),
)


async def test_what_is_wrong_is_named_as_the_caller_did(admin: Administering) -> None:
    for field, value in WRONG:
        body = {"description": "changed", field: value}
        refused = await admin("PUT", "/projects/default", body, status=422)
        assert refused["field"] == field, refused

    assert (await admin("GET", "/projects/default"))["description"] is None


async def test_lists_go_page_by_page_and_leave_deleted_ones_out(admin: Administering) -> None:
    for slug in ("ape", "bee", "cat"):
        await admin("POST", "/projects", {"slug": slug}, status=201)
    await admin("DELETE", "/projects/bee")

    first = await admin("GET", "/projects?limit=2")
    last = await admin("GET", f"/projects?limit=2&cursor={first['next_cursor']}")

    assert [each["slug"] for each in first["data"] + last["data"]] == ["ape", "cat", "default"]
    assert last["next_cursor"] is None
    found = await admin("GET", "/projects?status=deleted&q=BE")
    assert [(each["slug"], each["status"]) for each in found["data"]] == [("bee", "deleted")]
    await admin("GET", "/projects?status=gone", status=422)
    await admin("GET", "/projects?cursor=bm9uZQ", status=422)


async def test_suspending_deleting_and_activating_is_told_and_audited(
    admin: Administering,
) -> None:
    made = await admin("POST", "/projects", HIRING, status=201)
    path = f"/projects/{made['id']}"
    async with admin.conn() as conn:
        issued = await issue_key(conn, "simplify-hiring", "web", is_test=False)
    key = {"X-API-Key": issued.key.reveal()}
    keys = f"/v1/projects/{made['id']}/api-keys"
    assert (await admin.http.get(keys, headers=key)).status_code == 200

    suspended = await admin("POST", f"{path}/suspend", {"reason": "Unpaid"})
    await admin("POST", f"{path}/suspend", {"reason": ""}, status=422)
    active = await admin("POST", f"{path}/activate")
    deleted = await admin("DELETE", path)
    refused = (await admin.http.get(keys, headers=key)).status_code
    await admin("POST", f"{path}/suspend", {"reason": "Too late"}, status=409)
    restored = await admin("POST", f"{path}/activate")

    assert (suspended["status"], suspended["suspended_reason"]) == ("suspended", "Unpaid")
    assert suspended["suspended_at"] is not None
    assert (active["status"], active["suspended_at"]) == ("active", None)
    assert (deleted["status"], deleted["deleted_at"] is not None) == ("deleted", True)
    assert refused == 401
    assert restored["status"] == "active"
    await admin("DELETE", "/projects/default", status=409)
    audit = await admin("GET", f"{path}/audit-log?limit=3")
    older = await admin("GET", f"{path}/audit-log?cursor={audit['next_cursor']}")
    told = [each["action"] for each in audit["data"] + older["data"]]
    assert told[:4] == [
        f"project.{did}" for did in ("restored", "deleted", "activated", "suspended")
    ]
    assert told[-1] == "project.added"
    assert {each["actor"] for each in audit["data"]} == {"ann (token)"}


async def test_an_administrator_gives_a_project_its_first_key(admin: Administering) -> None:
    made = await admin("POST", "/projects", HIRING, status=201)
    path = f"/projects/{made['id']}/api-keys"
    wanted = {"name": "web", "scopes": ["project:read"]}

    key = await admin("POST", path, wanted, status=201)
    listed = await admin("GET", path)

    asked = f"/v1/projects/{made['id']}/api-keys"
    headers = {"X-API-Key": key["key"]}
    assert (await admin.http.get(asked, headers=headers)).status_code == 200
    assert [(each["id"], each["name"]) for each in listed["data"]] == [(key["id"], "web")]
    assert (listed["data"][0]["created_by"], key["is_test"]) == ("ann (token)", False)
    bearer = {"Authorization": f"Bearer {admin.token}"}
    gone = await admin.http.delete(f"/admin{path}/{key['id']}?reason=lost", headers=bearer)
    assert gone.status_code == 204
    assert (await admin.http.get(asked, headers=headers)).status_code == 401
    await admin("DELETE", f"/projects/{made['id']}")
    await admin("POST", path, wanted, status=409)
    await admin("POST", "/projects/away/api-keys", wanted, status=404)


async def test_stats_say_what_was_sent_and_is_left(admin: Administering) -> None:
    made = await admin("POST", "/projects", HIRING, status=201)
    async with admin.conn() as conn:
        await make.queued_emails(conn, 3, project="simplify-hiring")

    stats = await admin("GET", f"/projects/{made['id']}/stats?days=2")

    assert stats["queue"] == {"pending": 3, "assigned": 0, "held": 0}
    assert (stats["today"]["sent"], stats["today"]["left"]) == (0, 500_000)
    assert (stats["totals"]["accepted"], stats["delivery_rate"], len(stats["days"])) == (3, None, 2)
    await admin("GET", f"/projects/{made['id']}/stats?days=91", status=422)


async def test_bounds_are_set_and_what_is_used_is_told(admin: Administering) -> None:
    made = await admin("POST", "/projects", HIRING | {"max_queued_emails": 5}, status=201)
    path = f"/projects/{made['id']}"
    assert (made["max_queued_emails"], made["max_stored_bytes"]) == (5, None)
    async with admin.conn() as conn:
        await make.queued_emails(conn, 3, project="simplify-hiring")

    stats = await admin("GET", f"{path}/stats")

    assert {each["bound"]: (each["used"], each["max"]) for each in stats["bounds"]} == {
        "max_queued_emails": (3, 5),
        "max_stored_bytes": (42, None),
        "max_uploads": (0, None),
        "max_templates": (0, None),
        "max_contacts": (0, None),
        "max_events": (0, None),
    }
    await admin("PUT", path, {"max_queued_emails": -1}, status=422)
    changed = await admin("PUT", path, {"max_queued_emails": None, "max_events": 0})
    assert (changed["max_queued_emails"], changed["max_events"]) == (None, 0)


async def test_the_largest_age_of_a_priority_is_set_and_taken_back(admin: Administering) -> None:
    made = await admin("POST", "/projects", HIRING | {"max_age_hours_critical": 2}, status=201)
    path = f"/projects/{made['id']}"
    assert (made["max_age_hours_critical"], made["max_age_hours_low"]) == (2, 72)

    await admin("PUT", path, {"max_age_hours_low": 0}, status=422)
    changed = await admin("PUT", path, {"max_age_hours_low": 50, "max_age_hours_critical": None})

    assert (changed["max_age_hours_critical"], changed["max_age_hours_low"]) == (1, 50)


async def test_what_is_not_there_is_404(admin: Administering) -> None:
    nobody = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"
    for ref in (nobody, "away", "a%00b", "x" * 300, "%F0%9F%92%A9"):
        await admin("GET", f"/projects/{ref}", status=404)
        await admin("PUT", f"/projects/{ref}", {}, status=404)
    await admin("DELETE", f"/projects/{nobody}", status=404)
    await admin("POST", f"/projects/{nobody}/activate", status=404)
    await admin("GET", f"/projects/{nobody}/stats", status=404)
    await admin("GET", f"/projects/{nobody}/audit-log", status=404)


async def test_only_administrators_are_admitted(admin: Administering) -> None:
    async with admin.conn() as conn:
        key = (await issue_key(conn, "default", "web", is_test=False)).key.reveal()
    every = [endpoint for endpoint in ENDPOINTS if endpoint.superadmin]
    wrong = admin.token[:-1] + ("x" if admin.token[-1] != "x" else "y")

    for endpoint in every:
        path = endpoint.path.replace("{id}", "default").replace("{key_id}", "default")
        for headers in (
            {},
            {"X-API-Key": key},
            {"Authorization": f"Bearer {key}"},
            {"Authorization": f"Bearer {wrong}"},
            {"Authorization": f"Basic {admin.token}"},
            {"Authorization": "Bearer a.b.c"},
        ):
            answer = await admin.http.request(endpoint.method, path, headers=headers)
            assert answer.status_code == 401, (endpoint.method, path, answer.text)
            assert "bearer" in answer.headers["www-authenticate"].lower()
    assert len(every) >= 23
    assert {endpoint.path.startswith("/admin/") for endpoint in every} == {True}
    for path in ("/v1/projects/default/api-keys", "/v1/emails"):
        answer = await admin.http.get(path, headers={"Authorization": f"Bearer {admin.token}"})
        assert answer.status_code == 401, "a token of an administrator is no key"


async def test_the_same_request_twice_makes_one_project(admin: Administering) -> None:
    headers = {"Authorization": f"Bearer {admin.token}", "Idempotency-Key": "once-1"}
    one = await admin.http.post("/admin/projects", json=HIRING, headers=headers)
    two = await admin.http.post("/admin/projects", json=HIRING, headers=headers)

    assert (one.status_code, two.status_code) == (201, 201)
    assert one.json() == two.json()
    assert two.headers["idempotent-replayed"] == "true"


async def test_a_template_of_one_project_is_copied_to_another(admin: Administering) -> None:
    made = await admin("POST", "/projects", HIRING, status=201)
    async with admin.conn() as conn:
        await published(conn, UUID(made["id"]), slug="welcome")
    path = "/projects/simplify-hiring/templates/welcome/clone"

    copy = await admin("POST", path, {"project_id": "default", "slug": "hello"}, status=201)

    assert (copy["slug"], copy["published_version"], copy["is_platform"]) == ("hello", 1, False)
    async with admin.conn() as conn:
        own = await writing.find_own(conn, await make.project_named(conn), slug="hello")
    assert str(own.id) == copy["id"]
    for project, status in (("nowhere", 404), ("default", 409)):
        await admin("POST", path, {"project_id": project, "slug": "hello"}, status=status)
    await admin("POST", path.replace("welcome", "none"), {"project_id": "default"}, status=404)
    await admin("POST", path, {"slug": "hello"}, status=422)
