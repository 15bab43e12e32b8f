"""`/v1/operations`: hold, release, cancel, move or queue again all mail that matches a filter."""

from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.operations.handler import OperationHandler
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of
from tests.queue.working import work_once
from tests.rows import each_row

pytestmark = pytest.mark.anyio

PATH = "/v1/operations"
SPRING: dict[str, Any] = {"verb": "hold", "filter": {"subject": "SPRING"}}


async def queued(api: Calling, subject: str, key: str | None = None) -> str:
    answer = await api.post("/v1/send", HELLO | {"subject": subject}, key=key)
    assert answer.is_success, answer.text
    found: str = answer.json()["id"]
    return found


async def status_of(api: Calling, email: str, key: str | None = None) -> str:
    found: str = (await api.get(f"/v1/emails/{email}", key)).json()["status"]
    return found


async def test_what_a_count_shows_is_held_by_workers_and_told(api: Calling) -> None:
    spring, bill = await queued(api, "Spring sale"), await queued(api, "Your bill")

    counted = (await api.post(f"{PATH}/count", SPRING)).json()
    assert (counted["emails"], counted["is_complete"]) == (1, True)
    assert [(one["id"], one["subject"]) for one in counted["examples"]] == [(spring, "Spring sale")]
    assert await status_of(api, spring) == "pending"

    answer = await api.post(PATH, SPRING | {"reason": "wrong price"})
    assert answer.status_code == 201, answer.text
    begun = answer.json()
    assert (begun["state"], begun["project"], begun["reason"]) == (
        "waiting",
        "default",
        "wrong price",
    )
    await work_once(api.database, "operations", OperationHandler(api.database))
    done = (await api.get(f"{PATH}/{begun['id']}")).json()
    assert (done["state"], done["emails"]) == ("done", 1)
    assert [await status_of(api, each) for each in (spring, bill)] == ["held", "pending"]
    assert error_of(await api.post(f"{PATH}/{begun['id']}/stop"))["statusCode"] == 409


async def test_what_failed_is_queued_again_and_what_waits_is_moved(api: Calling) -> None:
    async with connect(api.database) as conn:
        await make.sender_account(conn, name="backup")
    spring = await queued(api, "Spring sale")
    assert (await api.post(f"/v1/emails/{spring}/cancel")).is_success

    again = SPRING | {"verb": "requeue"}
    assert (await api.post(f"{PATH}/count", again)).json()["emails"] == 1
    assert (await api.post(PATH, again)).json()["to"] is None
    await work_once(api.database, "operations", OperationHandler(api.database))
    assert await status_of(api, spring) == "pending"

    moving = SPRING | {"verb": "move", "to": "backup"}
    assert (await api.post(f"{PATH}/count", moving)).json()["emails"] == 1
    begun = (await api.post(PATH, moving)).json()
    assert (begun["verb"], begun["to"]) == ("move", "backup")
    await work_once(api.database, "operations", OperationHandler(api.database))
    assert (await api.get(f"{PATH}/{begun['id']}")).json()["emails"] == 1
    assert (await api.post(f"{PATH}/count", moving)).json()["emails"] == 0
    for wrong in (moving | {"to": "nobody"}, SPRING | {"to": "backup"}):
        assert "to" in error_of(await api.post(PATH, wrong))["message"]


async def test_operations_are_listed_in_pages_and_stopped(api: Calling) -> None:
    ids = [(await api.post(PATH, SPRING)).json()["id"] for _ in range(3)]

    first = (await api.get(f"{PATH}?limit=2")).json()
    rest = (await api.get(f"{PATH}?limit=2&cursor={first['next_cursor']}")).json()
    stopped = (await api.post(f"{PATH}/{ids[0]}/stop")).json()
    await work_once(api.database, "operations", OperationHandler(api.database))

    assert [one["id"] for one in (*first["data"], *rest["data"])] == ids[::-1]
    assert stopped["state"] == "stopping"
    assert (await api.get(f"{PATH}/{ids[0]}")).json()["state"] == "stopped"


@each_row(
    "body, field",
    [
        (SPRING | {"filter": {}}, "filter"),
        (SPRING | {"filter": {"subject": ""}}, "filter: subject"),
        (SPRING | {"filter": {"subject": "x" * 999}}, "filter: subject"),
        (SPRING | {"filter": {"project": "shop"}}, "filter: project"),
        (SPRING | {"filter": {"lane": "urgent"}}, "filter: lane"),
        (SPRING | {"filter": {"sender": "nobody"}}, "filter: sender"),
        (SPRING | {"filter": {"older_than": "-1 day"}}, "filter: older_than"),
        (SPRING | {"filter": {"domain": "not a domain"}}, "filter: domain"),
        (SPRING | {"filter": {"batch": str(uuid4())}}, "filter: batch"),
        (SPRING | {"verb": "resend"}, "verb"),
        ({"verb": "hold"}, "filter"),
    ],
)
async def test_what_cannot_be_meant_is_refused_by_name(api: Calling, body: Any, field: str) -> None:
    for path in (PATH, f"{PATH}/count"):
        error = error_of(await api.post(path, body))
        assert error["statusCode"] == 422, error
        assert error["message"].startswith(f"{field}: "), error
        assert error["field"] == field.partition(":")[0], error


async def test_an_operation_of_a_test_key_changes_test_mail_alone(api: Calling) -> None:
    async with connect(api.database) as conn:
        await make.sender_account(conn, name="pit", provider="trap")
        issued = await issue_key(conn, "default", "try", is_test=True, requests_per_second=10_000)
    key = issued.key.reveal()
    live, test = await queued(api, "Spring live"), await queued(api, "Spring test", key)

    counts = [(await api.post(f"{PATH}/count", SPRING, key=each)).json() for each in (None, key)]
    operation = (await api.post(PATH, SPRING, key=key)).json()["id"]
    await work_once(api.database, "operations", OperationHandler(api.database))

    assert [one["examples"][0]["id"] for one in counts] == [live, test]
    assert [one["emails"] for one in counts] == [1, 1]
    assert await status_of(api, live) == "pending"
    assert await status_of(api, test, key) == "held"
    assert (await api.get(f"{PATH}/{operation}")).status_code == 404
    assert (await api.post(f"{PATH}/{operation}/stop")).status_code == 404
    assert (await api.get(PATH)).json()["data"] == []
