"""Requests with one Idempotency-Key take effect once and get the same response."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.dependencies import Services
from mailqueue.api.http.endpoint import Endpoint, Once
from mailqueue.api.http.middleware import RequestMiddleware
from mailqueue.api.http.router import Routing
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Conflict
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Admin
from tests import make
from tests.api.support.calling import ORIGIN, Calling, error_of, settings_for

pytestmark = pytest.mark.anyio
BOUND = 60.0
NOTE = "INSERT INTO mailqueue.audit_events (action, subject) VALUES ('wish.made', %s) RETURNING id"


class Wish(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    secret: str | None = None
    fails: bool = False


async def grant(call: RequestContext) -> object:
    """Make a change that can be counted, in two steps."""
    async with call.connection() as conn:
        await conn.execute("RESET ROLE")
        number = await make.scalar(conn, NOTE, call.body.name)
    async with call.connection():
        if call.body.fails:
            raise Conflict("it may not be")
    return {"number": number, "secret": call.body.secret, "by": call.by}


class Gate:
    """Lets a handler wait until a test releases it."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()


GATES: dict[str, Gate] = {}


async def wait(call: RequestContext) -> object:
    gate = GATES[call.body.name]
    gate.entered.set()
    await gate.open.wait()
    if call.body.fails:
        raise Conflict("it may not be")
    return {"name": call.body.name}


MADE = HTTPStatus.CREATED
TABLE = (
    Endpoint("POST", "/t/wishes", None, "W.", grant, request=Wish, status=MADE, hidden=("secret",)),
    Endpoint("POST", "/t/others", None, "W.", grant, request=Wish, status=MADE),
    Endpoint("POST", "/t/never", None, "W.", grant, request=Wish, once=Once.NEVER),
    Endpoint("POST", "/t/apart", None, "W.", wait, request=Wish, once=Once.APART),
    Endpoint("POST", "/t/admin", None, "W.", grant, request=Wish, superadmin=True),
)


async def anybody(token: str) -> Admin:
    return Admin(token, "token")


@pytest.fixture
async def table(shared_api: Calling) -> AsyncIterator[httpx2.AsyncClient]:
    settings = settings_for(shared_api.database)
    runtime = Runtime(settings, shared_api.pool, Services(admin_of=anybody))
    app = RequestMiddleware(Starlette(routes=[Routing(TABLE, runtime)]))
    headers = {"X-API-Key": shared_api.key}
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers) as http:
        yield http


async def wish(
    http: httpx2.AsyncClient, key: str, path: str = "/t/wishes", **body: Any
) -> httpx2.Response:
    async with asyncio.timeout(BOUND):
        document = {"name": "x", **body}
        return await http.post(path, json=document, headers={"Idempotency-Key": key})


async def made(api: Calling, name: str) -> int:
    async with api.pool.connection() as conn:
        query = "SELECT count(*) FROM mailqueue.audit_events WHERE subject = %s"
        return int(await make.scalar(conn, query, name))


async def test_the_second_answer_is_the_first(
    shared_api: Calling, table: httpx2.AsyncClient
) -> None:
    name = uuid4().hex

    first = await wish(table, name, name=name)
    second = await wish(table, name, name=name)
    reordered = await table.post(
        "/t/wishes",
        content=f'{{ "fails": false, "name": "{name}" }}',
        headers={"Idempotency-Key": name},
    )
    without = await table.post("/t/wishes", json={"name": name})

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second.headers["content-type"] == first.headers["content-type"]
    assert second.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert reordered.status_code == 422, "another field was given"
    assert without.json()["number"] != first.json()["number"]
    assert await made(shared_api, name) == 2


async def test_twins_at_one_moment_take_effect_once(
    shared_api: Calling, table: httpx2.AsyncClient
) -> None:
    name = uuid4().hex

    answers = await asyncio.gather(*(wish(table, name, name=name) for _ in range(6)))

    assert {answer.text for answer in answers} == {answers[0].text}
    assert {answer.status_code for answer in answers} == {201}
    assert await made(shared_api, name) == 1


async def test_another_request_under_the_key_is_refused(table: httpx2.AsyncClient) -> None:
    name = uuid4().hex
    await wish(table, name)

    for answer in (
        await wish(table, name, name="y"),
        await wish(table, name, "/t/others"),
    ):
        assert (answer.status_code, error_of(answer)["field"]) == (422, "Idempotency-Key")


async def test_what_was_refused_leaves_the_key_free(
    shared_api: Calling, table: httpx2.AsyncClient
) -> None:
    name = uuid4().hex

    refused = await wish(table, name, name=name, fails=True)
    invalid = await wish(table, name, name=1)
    done = await wish(table, name, name=name)

    assert (refused.status_code, invalid.status_code, done.status_code) == (409, 422, 201)
    assert await made(shared_api, name) == 1, "what was refused left nothing"


async def test_secrets_are_shown_once_and_not_kept(
    shared_api: Calling, table: httpx2.AsyncClient
) -> None:
    name, secret = uuid4().hex, uuid4().hex

    first = await wish(table, name, secret=secret)
    second = await wish(table, name, secret=secret)

    assert first.json()["secret"] == secret
    assert second.json() == {**first.json(), "secret": None}
    async with shared_api.pool.connection() as conn:
        kept = "SELECT convert_from(body, 'UTF8') FROM mailqueue.idempotent_answers WHERE key = %s"
        assert secret not in await make.scalar(conn, kept, name)


async def test_keys_are_a_projects_own(shared_api: Calling, table: httpx2.AsyncClient) -> None:
    name = uuid4().hex
    async with shared_api.pool.connection() as conn:
        await make.project(conn, f"p{name}")
        other = (await issue_key(conn, f"p{name}", "web", is_test=False)).key.reveal()

    mine = await wish(table, name)
    table.headers["X-API-Key"] = other
    theirs = await wish(table, name)
    table.headers.pop("X-API-Key")
    table.headers["Authorization"] = "Bearer ann"
    admins = [await wish(table, name, "/t/admin") for _ in range(2)]

    numbers = {answer.json()["number"] for answer in (mine, theirs, *admins)}
    assert len(numbers) == 3
    assert admins[0].json() == admins[1].json()


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256])
async def test_what_is_no_key_is_refused(table: httpx2.AsyncClient, key: str) -> None:
    answer = await wish(table, key)

    assert (answer.status_code, error_of(answer)["field"]) == (422, "Idempotency-Key")


async def test_after_a_day_a_key_is_free(shared_api: Calling, table: httpx2.AsyncClient) -> None:
    name = uuid4().hex
    first = await wish(table, name)
    async with shared_api.pool.connection() as conn:
        await conn.execute(
            "UPDATE mailqueue.idempotent_answers SET created_at = created_at - interval '25 h'"
            " WHERE key = %s",
            (name,),
        )

    assert (await wish(table, name, name="y")).json()["number"] != first.json()["number"]


async def test_where_asking_twice_is_harmless_the_key_is_not_kept(
    shared_api: Calling, table: httpx2.AsyncClient
) -> None:
    name = uuid4().hex

    assert (await wish(table, name, "/t/never", name=name)).status_code == 200
    assert (await wish(table, name, "/t/never", name="y")).status_code == 200


async def test_a_handler_that_talks_to_others_holds_no_connection(
    shared_api: Calling, table: httpx2.AsyncClient
) -> None:
    name = uuid4().hex
    gate = GATES[name] = Gate()
    running = asyncio.create_task(wish(table, name, "/t/apart", name=name))
    async with asyncio.timeout(BOUND):
        await gate.entered.wait()

    lent = shared_api.pool.get_stats()
    twin = await wish(table, name, "/t/apart", name=name)
    gate.open.set()
    first = await running
    second = await wish(table, name, "/t/apart", name=name)

    assert lent["pool_available"] == lent["pool_size"]
    assert (twin.status_code, twin.headers["retry-after"]) == (409, "1")
    assert second.json() == first.json() == {"name": name}
    assert second.headers["idempotent-replayed"] == "true"


async def test_no_error_suggests_a_retry_where_the_effect_is_unknown(
    shared_api: Calling, table: httpx2.AsyncClient
) -> None:
    name = uuid4().hex
    gate = GATES[name] = Gate()
    running = asyncio.create_task(wish(table, name, "/t/apart", name=name))
    async with asyncio.timeout(BOUND):
        await gate.entered.wait()
    running.cancel()
    async with shared_api.pool.connection() as conn:
        await conn.execute(
            "UPDATE mailqueue.idempotent_answers SET created_at = created_at - interval '3 min'"
            " WHERE key = %s",
            (name,),
        )

    answer = await wish(table, name, "/t/apart", name=name)

    assert (answer.status_code, "retry-after" in answer.headers) == (409, False)
    assert "check whether it took effect" in error_of(answer)["message"]


async def test_a_refusal_of_such_a_handler_leaves_the_key_free(table: httpx2.AsyncClient) -> None:
    name = uuid4().hex
    gate = GATES[name] = Gate()
    gate.open.set()

    refused = await wish(table, name, "/t/apart", name=name, fails=True)
    done = await wish(table, name, "/t/apart", name=name)

    assert (refused.status_code, done.status_code) == (409, 200)
