"""Large requests are processed one after another, while others are answered."""

import asyncio
import threading
from typing import Any
from uuid import uuid4

import orjson
import pytest
from starlette.exceptions import HTTPException

from mailqueue.api.http.requests import body as http_body
from mailqueue.api.http.requests import large_bodies
from mailqueue.api.http.requests.large_bodies import Bodies, admit, expect, receive, release
from mailqueue.api.sending import service
from mailqueue.core.errors import TooManyRequests
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Caller
from mailqueue.projects.rate_limit.limiter import RateLimiter
from tests.api.support.calling import HELLO, Calling, error_of

pytestmark = pytest.mark.anyio
MIB = 1024 * 1024


def caller(**more: Any) -> Caller:
    given: dict[str, Any] = {
        "id": uuid4(),
        "project_id": uuid4(),
        "project": "default",
        "is_test": False,
        "trap_sender": None,
        "name": "test",
        "scopes": frozenset(),
        "requests_per_second": None,
        "project_requests_per_second": None,
    }
    return Caller(**given | more)


def admitted(large: Bodies, who: Caller) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    admit(scope, large, who)
    return scope


async def test_a_mail_of_15_mb_is_taken(shared_api: Calling) -> None:
    body = HELLO | {"html_body": '<a href="x">, [é]</a>\n' * (15 * MIB // 24)}

    answer = await shared_api.send(orjson.dumps(body))

    assert answer.status_code == 202


async def test_probes_are_answered_while_a_large_request_is_read(
    shared_api: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Isolate: the request is read only after the probe was answered."""
    is_read, is_answered = threading.Event(), threading.Event()
    parsed = http_body.parse_body

    def waiting(*given: Any) -> Any:
        is_read.set()
        assert is_answered.wait(30)
        return parsed(*given)

    monkeypatch.setattr(http_body, "parse_body", waiting)
    body = orjson.dumps(HELLO | {"html_body": "x" * MIB})
    sending = asyncio.create_task(shared_api.send(body))
    assert await asyncio.to_thread(is_read.wait, 30)

    assert (await shared_api.get("/healthz")).status_code == 200
    is_answered.set()

    assert (await sending).status_code == 202


async def test_a_small_request_of_many_values_is_read_beside_the_event_loop_too(
    shared_api: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    parsed = http_body.parse_body

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return parsed(*given)

    monkeypatch.setattr(http_body, "parse_body", noted)
    for rows in (10, 30_000):
        await shared_api.send(HELLO | {"custom_data": {"rows": [1] * rows}})

    assert [each is threading.current_thread() for each in threads] == [True, False]


async def test_the_mails_of_a_bulk_request_are_prepared_beside_the_event_loop(
    shared_api: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()
    prepared = service.new_email

    def noted(*given: Any) -> Any:
        threads.add(threading.current_thread())
        return prepared(*given)

    monkeypatch.setattr(service, "new_email", noted)
    content = {"From": "sender@example.com", "Subject": "Hi", "TextBody": "Hi"}
    model = {"rows": [1] * 15_000}
    messages = [{"To": f"u{n}@example.com", "TemplateModel": model} for n in range(2)]

    answer = await shared_api.http.post(
        "/email/bulk",
        json=content | {"MessageStream": "outbound", "Messages": messages},
        headers={"X-Postmark-Server-Token": shared_api.key},
    )

    assert answer.status_code == 200, answer.text
    assert len(threads) == 1
    assert threading.current_thread() not in threads


@pytest.mark.parametrize(
    ("path", "head", "document"),
    [
        ("/v1/send", "X-API-Key", {"tags": ["a"] * 600_000}),
        ("/emails", "Authorization", {"tags": ["a"] * 600_000}),
        ("/v3/mail/send", "Authorization", {"categories": ["a"] * 600_000}),
        ("/email", "X-Postmark-Server-Token", {"Tag": ["a"] * 600_000}),
    ],
)
async def test_too_many_values_are_refused_before_anything_is_read(
    shared_api: Calling,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    head: str,
    document: dict[str, Any],
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("it was read")

    monkeypatch.setattr("mailqueue.api.compat.reading.parsed_json", never)
    monkeypatch.setattr("mailqueue.api.http.requests.body.validated_json", never)
    key = f"Bearer {shared_api.key}" if head == "Authorization" else shared_api.key

    answer = await shared_api.http.post(path, json=document, headers={head: key})

    assert answer.status_code in (400, 422)
    assert "too many values" in answer.text


async def test_values_without_a_key_are_few(shared_api: Calling) -> None:
    head = {"X-Postmark-Server-Token": "POSTMARK_API_TEST"}

    answer = await shared_api.http.post("/email", json={"Tag": [1] * 30_000}, headers=head)

    assert answer.status_code == 422
    assert "with the test token" in answer.text


async def test_a_key_may_send_so_many_bytes_and_small_requests_go_on(shared_api: Calling) -> None:
    async with shared_api.pool.connection() as conn:
        issued = await issue_key(conn, "default", "slow", is_test=False, requests_per_second=1)
        slow = issued.key.reveal()
    body = orjson.dumps(HELLO | {"no_field": "x" * (25 * MIB)})

    answers = [await shared_api.send(body, X_API_Key=slow) for _ in range(3)]

    assert [each.status_code for each in answers] == [422, 422, 429]
    assert "MiB of large requests" in error_of(answers[2])["message"]
    assert int(answers[2].headers["Retry-After"]) >= 1
    assert (await shared_api.send(X_API_Key=slow)).status_code == 202


@pytest.fixture
def large(shared_api: Calling) -> Bodies:
    return Bodies(RateLimiter(shared_api.pool.connection))


async def test_of_one_project_so_many_bytes_are_read_at_once_and_the_next_wait(
    large: Bodies,
) -> None:
    who, other = caller(), caller()
    first, second, third = (admitted(large, who) for _ in range(3))
    await expect(first, 40 * MIB)
    waiting = [asyncio.create_task(expect(each, 40 * MIB)) for each in (second, third)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not any(each.done() for each in waiting)

    await expect(admitted(large, other), 40 * MIB)  # a request of another project does not wait

    release(first)
    await waiting[0]
    await asyncio.sleep(0)
    assert not waiting[1].done()
    waiting[1].cancel()
    await asyncio.wait(waiting)
    release(second)
    await expect(admitted(large, who), 60 * MIB)


async def test_a_process_holds_so_many_bytes_and_what_came_is_given_back(
    large: Bodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_bodies, "PROCESS_BYTES", 50 * MIB)
    scopes = [admitted(large, caller()) for _ in range(2)]
    for each in scopes:
        await expect(each, 30 * MIB)
        receive(each, 20 * MIB)

    with pytest.raises(HTTPException) as refused:
        receive(scopes[0], 20 * MIB)
    assert refused.value.status_code == 503

    release(scopes[1])
    receive(scopes[0], 20 * MIB)


async def test_bytes_of_a_project_are_counted_for_all_its_keys(large: Bodies) -> None:
    project = uuid4()
    keys = [caller(project_id=project, project_requests_per_second=1) for _ in range(3)]

    await expect(admitted(large, keys[0]), 40 * MIB)
    with pytest.raises(TooManyRequests, match="all keys of this project together"):
        await expect(admitted(large, keys[1]), 40 * MIB)


async def test_work_on_large_requests_is_done_in_turn_and_projects_take_turns(
    large: Bodies,
) -> None:
    """Isolate: of ten requests of one project and one of another, the other is second or third."""
    order: list[str] = []
    begin = threading.Event()

    def work(name: str) -> None:
        assert begin.wait(30)
        order.append(name)

    greedy, other = caller(), caller()
    tasks = [
        asyncio.create_task(large._in_turn(greedy.project_id, lambda: work("greedy")))
        for _ in range(10)
    ]
    await asyncio.sleep(0)
    tasks.append(asyncio.create_task(large._in_turn(other.project_id, lambda: work("other"))))
    await asyncio.sleep(0)
    begin.set()
    await asyncio.gather(*tasks)

    assert order.index("other") <= 2
