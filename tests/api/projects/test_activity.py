"""What is sent now over HTTP: to keys of their project, to administrators of all."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import EVERY_SCOPE, Scope
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.administering import Administering, administering

pytestmark = pytest.mark.anyio

ACTIVITY = "/v1/projects/shop/activity"


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def busy(admin: Administering) -> dict[str, str]:
    """Log attempts of accounts of two projects; return the headers of a key of shop."""
    async with admin.conn() as conn:
        for name, sender in (("shop", "relay"), ("blog", "secret")):
            project = await make.project(conn, name)
            await make.sender_account(conn, project_id=project, name=sender)
            await make.logged_attempts(conn, sender, 1, "sent", 100)
        await make.logged_attempts(conn, "secret", 1, "failed", 300)
        key = await issue_key(conn, "shop", "web", is_test=False)
    return {"X-API-Key": key.key.reveal()}


async def test_a_key_sees_the_accounts_and_minutes_of_its_project_only(
    admin: Administering,
) -> None:
    headers = await busy(admin)

    answer = await admin.http.get(ACTIVITY, headers=headers)
    found = answer.json()

    assert answer.status_code == 200, answer.text
    (account,) = found["accounts"]
    assert (account["sender"], account["attempts"], account["failed"]) == ("relay", 100, 0)
    assert (account["median_ms"], account["p95_ms"]) == (50, 95)
    assert sum(each["sent"] for each in found["minutes"]) == 100
    assert sum(each["failed"] for each in found["minutes"]) == 0
    assert found["is_complete"]
    assert len(found["ten_minutes"]) in (143, 144)  # the oldest is complete or not
    assert "secret" not in answer.text


async def test_administrators_see_the_slowest_account_of_all_projects_first(
    admin: Administering,
) -> None:
    await busy(admin)

    found = await admin("GET", "/activity")
    only = await admin("GET", "/activity?project=blog")

    assert [(each["project"], each["failed"]) for each in found["accounts"]] == [
        ("blog", 300),
        ("shop", 0),
    ]
    assert sum(each["sent"] for each in found["minutes"]) == 200
    assert [each["sender"] for each in only["accounts"]] == ["secret"]
    assert sum(each["sent"] for each in only["minutes"]) == 100
    assert found["accounts_since"] < found["at"]
    await admin("GET", "/activity?project=nowhere", status=404)


async def test_many_who_ask_at_once_cost_one_reading(
    admin: Administering, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = await busy(admin)
    monkeypatch.setattr("mailqueue.operations.activity.REFRESH_SECONDS", 3600.0)
    read: list[object] = []

    async def counted(conn: object) -> list[object]:
        read.append(conn)
        return []

    monkeypatch.setattr("mailqueue.admin.boards.workers", counted)

    answers = await asyncio.gather(*(admin.http.get(ACTIVITY, headers=headers) for _ in range(20)))

    assert {answer.status_code for answer in answers} == {200}
    assert len(read) == 1


async def test_a_key_needs_the_scope_and_a_test_key_has_none_of_it(admin: Administering) -> None:
    await busy(admin)
    async with admin.conn() as conn:
        scopes = EVERY_SCOPE - {Scope.ANALYTICS_READ}
        without = await issue_key(conn, "shop", "no", is_test=False, scopes=scopes)
        testing = await issue_key(conn, "shop", "test", is_test=True)

    for key in (without, testing):
        answer = await admin.http.get(ACTIVITY, headers={"X-API-Key": key.key.reveal()})
        assert answer.status_code == 403
