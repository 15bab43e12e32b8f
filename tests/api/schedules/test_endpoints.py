"""Schedules over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.inbox import events
from tests.rows import each_row
from tests.schedules import turning

pytestmark = pytest.mark.anyio

PATH = "/v1/schedule"
LATER = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
WORDS = {"subject": "Hello", "text_body": "Hello Ann"}
DIGEST: dict[str, Any] = {
    "name": "Weekly Digest",
    "schedule_type": "cron",
    "cron_expression": "0 9 * * 1",
    "timezone": "America/New_York",
    "template_slug": "welcome",
    "payload": {"to": ["subscribers-segment"], "variables": {"name": "{{ run.week }}"}},
}
ONCE: dict[str, Any] = {
    "schedule_type": "once",
    "run_at": LATER,
    "payload": {"to": ["ann@example.com"]} | WORDS,
}


@pytest.fixture
async def api(api: Calling) -> Calling:
    async with connect(api.database) as conn:
        await events.project_with_template(conn)
        await make.sender_account(conn, name="pit", provider="trap")  # for mail of test keys
        await conn.execute(
            "SELECT mailqueue.put_contact_list(id, 'subscribers-segment', '{}', true, 'tests')"
            " FROM mailqueue.projects WHERE name = 'default'"
        )
    return api


async def test_the_documented_example_recurs_on_mondays(api: Calling) -> None:
    added = await api.post(PATH, DIGEST)
    assert added.status_code == 201, added.text
    found = added.json()
    assert (found["status"], found["run_count"], found["last_run_at"]) == ("active", 0, None)
    first = datetime.fromisoformat(found["next_run_at"])
    assert first.weekday() == 0
    assert first.astimezone(UTC).hour in (13, 14)
    assert found["payload"]["to"] == ["subscribers-segment"]
    assert found["payload"]["variables"] == {"name": "{{ run.week }}"}

    one = f"{PATH}/{found['id']}"
    assert (await api.get(one)).json() == found
    assert (await api.get(PATH)).json()["data"] == [found]
    assert (await api.get(f"{PATH}?status=paused")).json()["data"] == []
    runs = (await api.get(f"{one}/next-runs?n=3")).json()
    assert runs["data"][0]["run_at"] == found["next_run_at"]
    assert [run["local_time"][10:] for run in runs["data"]] == ["T09:00:00"] * 3
    again = await api.post(PATH, DIGEST)
    assert again.status_code == 409


async def _written(api: Calling) -> list[tuple[int, ...]]:
    query = """
        SELECT (SELECT count(*) FROM mailqueue.schedules),
               (SELECT count(*) FROM mailqueue.schedule_runs),
               (SELECT count(*) FROM mailqueue.audit_events)
    """
    async with connect(api.database) as conn:
        return await make.rows(conn, query)


async def test_a_dry_run_estimates_a_schedule_and_writes_nothing(api: Calling) -> None:
    """The answer is that of the estimate of the same schedule."""
    to = ["ann@example.com", "Bob@example.com", "bob@example.com", "cid@example.com"]
    given = ONCE | {"name": "offer", "payload": {"to": to} | WORDS}
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await conn.execute(
            "SELECT mailqueue.suppress(%s, 'cid@example.com', '', 'manual', NULL, NULL, 'tests')",
            (project,),
        )
        await conn.execute(
            "UPDATE mailqueue.limits SET daily_limit = 1 WHERE project_id = %s", [project]
        )
    before = await _written(api)

    tried = await api.post(PATH, given | {"dry_run": True})
    assert tried.status_code == 200, tried.text
    found = tried.json()
    assert (found["recipients"], found["suppressed"]) == (3, 1)
    assert (found["daily_limit"], found["headroom"], found["days"]) == (1, 1, 2)
    assert await _written(api) == before

    added = await api.post(PATH, given | {"dry_run": False})
    assert added.status_code == 201, added.text
    assert (await api.get(f"{PATH}/{added.json()['id']}/estimate")).json() == found


async def test_a_dry_run_is_refused_as_its_schedule_would_be(api: Calling) -> None:
    never = DIGEST | {"cron_expression": "0 0 30 2 *", "dry_run": True}
    refused = await api.post(PATH, never)
    assert (refused.status_code, "cron_expression" in error_of(refused)["message"]) == (422, True)
    nowhere = DIGEST | {"payload": {"to": ["nowhere"]}, "dry_run": True}
    assert (await api.post(PATH, nowhere)).status_code == 422
    added = (await api.post(PATH, DIGEST)).json()
    assert (await api.post(PATH, DIGEST | {"dry_run": True})).status_code == 409
    changed = await api.put(f"{PATH}/{added['id']}", DIGEST | {"dry_run": True})
    assert changed.status_code == 422, "a change has no dry run; GET …/estimate answers that"


async def test_a_dry_run_is_replayed_with_its_idempotency_key(api: Calling) -> None:
    given = ONCE | {"dry_run": True}
    first, second = [await api.post(PATH, given, idempotency_key="one") for _ in range(2)]
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert (await api.get(PATH)).json()["data"] == []


async def test_an_answer_has_the_language_of_a_schedule(api: Calling) -> None:
    made = (await api.post(PATH, DIGEST | {"language": "de"})).json()
    assert made["language"] == "de"
    assert (await api.get(f"{PATH}/{made['id']}")).json() == made
    own = {name: made[name] for name in (*DIGEST, "language")}
    assert (await api.put(f"{PATH}/{made['id']}", own)).json()["language"] == "de"


async def test_a_schedule_is_changed_paused_resumed_skipped_and_cancelled(api: Calling) -> None:
    made = (await api.post(PATH, DIGEST)).json()
    one = f"{PATH}/{made['id']}"
    changed = await api.put(one, DIGEST | {"cron_expression": "0 9 * * *", "max_runs": 3})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["cron_expression"], changed.json()["max_runs"]) == ("0 9 * * *", 3)
    assert len((await api.get(f"{one}/next-runs?n=9")).json()["data"]) == 3

    assert (await api.post(f"{one}/pause")).json()["status"] == "paused"
    resumed = (await api.post(f"{one}/resume")).json()
    assert resumed["status"] == "active"
    assert (await api.post(f"{one}/resume")).json()["status"] == "active"
    skipped = (await api.post(f"{one}/skip")).json()
    assert skipped["skipped_at"] == resumed["next_run_at"]
    assert skipped["next_run_at"] > skipped["skipped_at"]
    first = (await api.get(f"{one}/next-runs?n=1")).json()["data"][0]["run_at"]
    assert first == skipped["next_run_at"]

    cancelled = await api.delete(one)
    assert cancelled.json() == {
        "id": made["id"],
        "status": "cancelled",
        "last_run": None,
        "queued": 0,
        "cancelled": 0,
    }
    assert (await api.get(f"{one}/next-runs")).json()["data"] == []
    assert (await api.put(one, DIGEST)).status_code == 409
    assert (await api.post(f"{one}/runs")).status_code == 409


async def test_each_run_is_a_batch_one_can_look_at(api: Calling) -> None:
    made = (await api.post(PATH, ONCE)).json()
    assert (made["next_run_at"], made["run_at"]) == (LATER, LATER)
    one = f"{PATH}/{made['id']}"
    assert (await api.get(f"{one}/estimate")).json()["recipients"] == 1
    async with connect(api.database) as conn:
        await turning.due(conn, UUID(made["id"]))
        await turning.turn(conn)

    (run,) = (await api.get(f"{one}/runs")).json()["data"]
    assert (run["number"], run["status"], run["queued"]) == (1, "done", 1)
    assert (await api.get(f"{one}/runs/1")).json() == run
    batch = (await api.get(f"/v1/batches/{run['batch_ids'][0]}")).json()
    assert (batch["recipients"], batch["counts"]) == (1, {"pending": 1})
    assert (await api.delete(one)).json()["status"] == "completed"
    assert (await api.get(f"{one}/runs/2")).status_code == 404
    assert (await api.get(f"{one}/runs/x")).status_code == 404


async def test_a_run_by_request_has_its_recipients(api: Calling) -> None:
    to = [{"email": f"n{n}@example.com", "timezone": "Asia/Tokyo"} for n in range(3)]
    body = {"schedule_type": "local", "run_at": "2030-06-01T09:00:00", "payload": {"to": to}}
    made = await api.post(PATH, body | {"payload": {"to": to} | WORDS})
    assert made.status_code == 201, made.text
    one = f"{PATH}/{made.json()['id']}"
    begun = await api.post(f"{one}/runs")
    assert (begun.status_code, begun.json()["status"]) == (201, "running")
    async with connect(api.database) as conn:
        await turning.make_runs(conn)
    listed = (await api.get(f"{one}/runs/1/recipients?limit=2")).json()
    assert [each["zone_source"] for each in listed["data"]] == ["recipient"] * 2
    rest = (await api.get(f"{one}/runs/1/recipients?cursor={listed['next_cursor']}")).json()
    assert [each["email"] for each in rest["data"]] == ["n2@example.com"]


@each_row(
    "given, field",
    [
        ({"cron_expression": "0 0 30 2 *"}, "cron_expression"),
        ({"cron_expression": "0 0 9 * * *"}, "cron_expression"),
        ({"timezone": "Europe/Atlantis"}, "timezone"),
        ({"template_slug": "none"}, "template_slug"),
        ({"payload": {"to": ["nobody"]}}, "payload.to"),
        ({"payload": {"to": ["ann@example.com"], "moon": 1}}, "payload.moon"),
        ({"payload": {"to": ["ann@example.com"], "priority": "urgent"}}, "payload.priority"),
        ({"ends_at": "2020-01-01T00:00:00Z"}, "ends_at"),
        ({"run_at": LATER}, "run_at"),
        ({"max_runs": 0}, "max_runs"),
        ({"timezone": "x" * 101}, "timezone: at most 100 characters, got 101"),
        ({"template_slug": None, "template_version": "1"}, "template_version"),
        (ONCE | {"cron_expression": None, "run_at": "2030-01-01T00:00:00+99:99"}, "run_at"),
    ],
)
async def test_a_refusal_names_the_field(api: Calling, given: dict[str, Any], field: str) -> None:
    answer = await api.post(PATH, DIGEST | given)
    assert answer.status_code == 422, answer.text
    assert field in answer.text


@each_row(
    "is_before, answer, mails",
    [
        # Claimed by a scheduler, and not committed yet: the run is not made.
        (True, ("cancelled", None), 0),
        (False, ("completed", 1), 1),
    ],
)
async def test_a_cancellation_in_the_second_of_the_run_says_which_came_first(
    api: Calling, is_before: bool, answer: tuple[str, int | None], mails: int
) -> None:
    made = (await api.post(PATH, ONCE)).json()
    found = []

    async def cancel() -> None:
        found.append((await api.delete(f"{PATH}/{made['id']}")).json())

    async with connect(api.database) as conn:
        before = await _mails(conn)
        await turning.due(conn, UUID(made["id"]))
        await turning.turn(conn, between=cancel if is_before else None)
        if not is_before:
            await cancel()
        await turning.make_runs(conn)
        made_mails = await _mails(conn) - before

    assert (found[0]["status"], found[0]["last_run"]) == answer
    assert made_mails == mails


async def test_scopes_and_test_keys(api: Calling) -> None:
    async with connect(api.database) as conn:
        reads = await issue_key(conn, "default", "r", is_test=False, scopes=[Scope.EMAIL_READ])
        tests = await issue_key(conn, "default", "t", is_test=True)
    live = (await api.post(PATH, ONCE)).json()
    assert (await api.post(PATH, ONCE, key=reads.key.reveal())).status_code == 403
    assert (await api.get(PATH, key=reads.key.reveal())).status_code == 200

    key = tests.key.reveal()
    assert (await api.get(f"{PATH}/{live['id']}", key=key)).status_code == 404
    assert (await api.delete(f"{PATH}/{live['id']}", key=key)).status_code == 404
    tried = await api.post(PATH, ONCE, key=key)
    assert tried.status_code == 201, tried.text
    assert tried.json()["is_test"]
    async with connect(api.database) as conn:
        await turning.due(conn, UUID(tried.json()["id"]))
        await turning.turn(conn)
        assert await make.rows(conn, "SELECT is_test FROM mailqueue.email_queue") == [(True,)]
    (run,) = (await api.get(f"{PATH}/{tried.json()['id']}/runs", key=key)).json()["data"]
    assert run["queued"] == 1
    assert error_of(await api.get(f"{PATH}/{uuid4()}"))


async def _mails(conn: Conn) -> int:
    found: int = await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails")
    return found
