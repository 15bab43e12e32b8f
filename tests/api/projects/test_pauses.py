"""Pauses over HTTP: listed, begun and ended by keys in their project, by administrators in any."""

from collections.abc import AsyncIterator, Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import EVERY_SCOPE, Scope
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.administering import Administering, administering
from tests.mail.claim.steps import claim
from tests.rows import each_row

pytestmark = pytest.mark.anyio

PAUSES = "/v1/projects/shop/pauses"
LONGEST = "\N{BALLOON}" * 255


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def key_of(admin: Administering, scopes: Collection[str] = EVERY_SCOPE) -> dict[str, str]:
    """Make the project shop with an account and an email; return the headers of a key of it."""
    async with admin.conn() as conn:
        project = await make.project(conn, "shop")
        await make.sender_account(conn, project_id=project, name="relay")
        await make.queued_email(
            conn, project_id=project, campaign_id="spring", recipient_email="ann@example.com"
        )
        made = await issue_key(conn, "shop", "web", is_test=False, scopes=scopes)
    return {"X-API-Key": made.key.reveal()}


@pytest.fixture
async def headers(admin: Administering) -> dict[str, str]:
    return await key_of(admin)


async def send(
    admin: Administering, path: str, body: Any, headers: dict[str, str]
) -> httpx2.Response:
    return await admin.http.post(path, json=body, headers=headers)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("campaign", "spring"), ("domain", "EXAMPLE.com"), ("sender", "relay"), ("project", "")],
)
async def test_what_is_paused_waits_until_it_is_resumed(
    admin: Administering, kind: str, name: str
) -> None:
    headers = await key_of(admin)
    asked = {"kind": kind, "name": name}

    paused = await send(admin, PAUSES, asked | {"reason": "wrong price"}, headers)
    listed = (await admin.http.get(PAUSES, headers=headers)).json()["data"]
    first = await send(admin, f"{PAUSES}/resume", asked, headers)
    again = await send(admin, f"{PAUSES}/resume", asked, headers)
    async with admin.conn() as conn:
        claimed = await claim(conn, await make.worker(conn))

    assert paused.status_code == 201, paused.text
    assert listed == [paused.json()]
    assert listed[0]["name"] == (name.lower() or "shop")
    assert (listed[0]["reason"], listed[0]["until"]) == ("wrong price", None)
    assert "key web" in listed[0]["actor"]
    assert (first.status_code, first.json()) == (200, {"resumed": True})
    assert again.status_code == 404
    assert (await admin.http.get(PAUSES, headers=headers)).json()["data"] == []
    assert len(claimed) == 1
    log = await admin("GET", "/audit-log?subject=" + kind)
    assert [each["action"] for each in log["data"]] == [f"{kind}.resumed", f"{kind}.paused"]
    assert {each["project"] for each in log["data"]} == {"shop"}


@each_row(
    "body, field",
    [
        ({"kind": "route", "name": "x"}, "kind"),
        ({"kind": "campaign"}, "name"),
        ({"kind": "domain", "name": "no domain"}, "name"),
        ({"kind": "sender", "name": "nobody"}, "name"),
        ({"kind": "campaign", "name": "x", "until": "2020-01-01T00:00:00Z"}, "until"),
        ({"kind": "project", "name": "default"}, "name"),
        ({"kind": "project", "until": "tomorrow"}, "until"),
        ({"kind": "project", "reason": "x" * 501}, "reason"),
        ({"kind": "project", "project": "default"}, "project"),
    ],
)
async def test_a_pause_that_cannot_be_is_refused_with_the_field(
    admin: Administering, headers: dict[str, str], body: dict[str, str], field: str
) -> None:
    refused = await send(admin, PAUSES, body, headers)

    assert (refused.status_code, refused.json()["field"]) == (422, field)
    assert (await admin("GET", "/pauses"))["data"] == []


async def test_pauses_are_listed_page_by_page_whatever_their_names(admin: Administering) -> None:
    headers = await key_of(admin)
    for kind, name in (("campaign", LONGEST), ("campaign", "a/b"), ("domain", "example.org")):
        assert (await send(admin, PAUSES, {"kind": kind, "name": name}, headers)).status_code == 201

    names, cursor = [], ""
    while True:
        page = (await admin.http.get(f"{PAUSES}?limit=1{cursor}", headers=headers)).json()
        names += [each["name"] for each in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    domains = await admin.http.get(f"{PAUSES}?kind=domain", headers=headers)

    assert sorted(names) == sorted([LONGEST, "a/b", "example.org"])
    assert names[-1] == "example.org"
    assert [each["name"] for each in domains.json()["data"]] == ["example.org"]


async def test_administrators_pause_and_resume_in_any_project(admin: Administering) -> None:
    headers = await key_of(admin)
    await send(admin, PAUSES, {"kind": "campaign", "name": "spring"}, headers)
    async with admin.conn() as conn:
        project_id = str(await make.project_named(conn))
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)

    paused = await admin(
        "POST",
        "/pauses",
        {"project": project_id, "kind": "project", "until": until.isoformat()},
        status=201,
    )
    listed = await admin("GET", "/pauses")
    only = await admin("GET", "/pauses?project=shop")
    await admin("POST", "/pauses/resume", {"project": "default", "kind": "project"})

    assert (paused["project"], paused["name"]) == ("default", "default")
    assert datetime.fromisoformat(paused["until"]) == until
    assert "ann (token)" in paused["actor"]
    assert [each["project"] for each in listed["data"]] == ["default", "shop"]
    assert [each["project"] for each in only["data"]] == ["shop"]
    assert [each["project"] for each in (await admin("GET", "/pauses"))["data"]] == ["shop"]
    await admin("POST", "/infrastructure/pause", {"reason": "an incident"})
    first = await admin("GET", "/pauses?limit=1")
    rest = await admin("GET", f"/pauses?cursor={first['next_cursor']}")
    assert [(each["project"], each["kind"]) for each in first["data"]] == [(None, "platform")]
    assert [each["project"] for each in rest["data"]] == ["shop"]
    await admin("GET", "/pauses?project=nowhere", status=404)
    await admin("POST", "/pauses", {"kind": "project"}, status=422)
    await admin("POST", "/pauses/resume", {"project": "nowhere", "kind": "project"}, status=404)


async def test_a_key_pauses_with_its_scope_only_and_a_test_key_never(admin: Administering) -> None:
    reading = await key_of(admin, [Scope.PROJECT_READ])
    async with admin.conn() as conn:
        testing = await issue_key(conn, "shop", "test", is_test=True)

    denied = await send(admin, PAUSES, {"kind": "project"}, reading)
    refused = await send(admin, PAUSES, {"kind": "project"}, {"X-API-Key": testing.key.reveal()})

    assert (denied.status_code, refused.status_code) == (403, 403)
    assert (await admin.http.get(PAUSES, headers=reading)).json()["data"] == []
    elsewhere = await admin.http.get("/v1/projects/default/pauses", headers=reading)
    assert elsewhere.status_code == 404
