"""What every endpoint of the table receives and returns."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Annotated, Any

import httpx2
import pytest
from pydantic import BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.dependencies import Services
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.middleware import RequestMiddleware
from mailqueue.api.http.router import Routing
from mailqueue.api.http.runtime import Runtime
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Admin, Scope
from tests import make
from tests.api.support.calling import ORIGIN, Calling, error_of, settings_for

pytestmark = pytest.mark.anyio


class Wish(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    counts: list[Annotated[int, Field(ge=1)]] = []


class Filter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=9)] = 5
    tag: list[str] | str | None = None


async def take(call: RequestContext) -> object:
    return {"name": call.body.name, "size": call.size}


async def ask(call: RequestContext) -> object:
    return {"limit": call.query.limit, "tag": call.query.tag, **call.path}


async def who(call: RequestContext) -> object:
    async with call.connection() as conn:
        rows = await make.rows(
            conn, "SELECT current_user::text, current_setting('mailqueue.project'), now()::text"
        )
    return rows[0]


async def administer(call: RequestContext) -> object:
    return {"by": call.by}


async def text(call: RequestContext) -> object:
    return PlainTextResponse("a,b\n")


async def nothing(call: RequestContext) -> object:
    return None


TABLE = (
    Endpoint(
        "POST",
        "/t/wishes",
        Scope.EMAIL_SEND,
        "Wish.",
        take,
        request=Wish,
        status=HTTPStatus.CREATED,
    ),
    Endpoint("GET", "/t/projects/{pid}/{name}", None, "Ask.", ask, query=Filter),
    Endpoint("GET", "/t/projects/{pid}/who", None, "Say who.", who),
    Endpoint("DELETE", "/t/wishes", None, "Forget.", nothing, status=HTTPStatus.NO_CONTENT),
    Endpoint("GET", "/t/text", None, "Text.", text),
    Endpoint("GET", "/t/admin", None, "Administer.", administer, superadmin=True),
)


async def root_only(token: str) -> Admin:
    return Admin(token, "token")


@pytest.fixture
def api(shared_api: Calling) -> Calling:
    """An application that all tests share: none depends on what others leave."""
    return shared_api


@pytest.fixture
async def table(api: Calling) -> AsyncIterator[httpx2.AsyncClient]:
    async with serving(api) as http:
        yield http


@asynccontextmanager
async def serving(api: Calling) -> AsyncIterator[httpx2.AsyncClient]:
    runtime = Runtime(settings_for(api.database), api.pool, Services(admin_of=root_only))
    app = RequestMiddleware(Starlette(routes=[Routing(TABLE, runtime)]))
    transport = httpx2.ASGITransport(app=app)
    headers = {"X-API-Key": api.key}
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers) as http:
        yield http


async def test_a_body_is_read_as_json_whatever_its_type_says(table: httpx2.AsyncClient) -> None:
    for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded", ""):
        answer = await table.post(
            "/t/wishes", content=b'{"name": "x"}', headers={"Content-Type": kind}
        )

        assert (answer.status_code, answer.json()) == (201, {"name": "x", "size": 13}), kind


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "application/xml"},
        {"Content-Encoding": "gzip"},
    ],
)
async def test_what_cannot_be_json_is_refused_by_its_type(
    table: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await table.post("/t/wishes", content=b"{}", headers=headers)

    assert answer.status_code == 415
    assert error_of(answer)["name"] == "unsupported_media_type"


async def test_every_violation_is_named_and_no_value_repeated(table: httpx2.AsyncClient) -> None:
    body = {"counts": [1, 0, "tell-nobody"], "more": "tell-nobody"}

    answer = await table.post("/t/wishes", json=body)

    error = error_of(answer)
    assert (answer.status_code, error["name"]) == (422, "invalid_field")
    assert error["field"] == error["violations"][0]["field"] == "name"
    assert {each["field"] for each in error["violations"]} == {
        "name",
        "counts.1",
        "counts.2",
        "more",
    }
    assert "tell-nobody" not in answer.text


@pytest.mark.parametrize("value", ["a\0b", ["\0"], {"a\0": 1}, {"a": {"b": ["c\0"]}}])
async def test_the_character_nul_is_refused_by_name(table: httpx2.AsyncClient, value: Any) -> None:
    answer = await table.post("/t/wishes", json={"name": value})

    assert (answer.status_code, error_of(answer)["field"]) == (422, "name")


async def test_what_looks_like_nul_is_taken(table: httpx2.AsyncClient) -> None:
    answer = await table.post("/t/wishes", content=b'{"name": "\\\\u0000"}')

    assert answer.json()["name"] == "\\u0000"


async def test_the_query_is_checked_too(api: Calling, table: httpx2.AsyncClient) -> None:
    good = await table.get("/t/projects/default/x?limit=3&tag=a&tag=b")
    bad = [
        await table.get(f"/t/projects/default/{query}")
        for query in ("x?limit=10", "x?limit=a", "x?other=1", "x?tag=%00", "who?x=1")
    ]

    assert good.json() == {"limit": 3, "tag": ["a", "b"], "pid": "default", "name": "x"}
    assert [answer.status_code for answer in bad] == [422] * 5
    assert [error_of(answer)["field"] for answer in bad] == ["limit", "limit", "other", "tag", "x"]
    assert api.key not in good.text


async def test_a_connection_acts_as_the_apis_role_for_the_callers_project(
    api: Calling, table: httpx2.AsyncClient
) -> None:
    role, project, _ = (await table.get("/t/projects/default/who")).json()
    async with api.pool.connection() as conn:
        left = await make.scalar(conn, "SELECT current_setting('mailqueue.project', true)")
        user = await make.scalar(conn, "SELECT current_user::text")
        expected = await make.project_named(conn)

    assert (role, project) == ("mailqueue_api", str(expected))
    assert not left
    assert user != "mailqueue_api"


async def test_another_project_in_the_path_is_not_there(
    api: Calling, table: httpx2.AsyncClient
) -> None:
    async with api.pool.connection() as conn:
        await make.project(conn, "other")

    for name in ("other", "nobody", "x" * 300):
        answer = await table.get(f"/t/projects/{name}/x")
        assert (answer.status_code, error_of(answer)["name"]) == (404, "not_found")


async def test_a_missing_scope_is_named(api: Calling, table: httpx2.AsyncClient) -> None:
    async with api.pool.connection() as conn:
        issued = await issue_key(conn, "default", "poor", is_test=False, scopes={Scope.EMAIL_READ})
    poor = {"X-API-Key": issued.key.reveal()}

    refused = await table.post("/t/wishes", json={"name": "x"}, headers=poor)
    fine = await table.get("/t/projects/default/x", headers=poor)

    assert (refused.status_code, error_of(refused)["needed"]) == (403, "scope email:send")
    assert fine.status_code == 200


async def test_administrators_and_keys_have_doors_of_their_own(table: httpx2.AsyncClient) -> None:
    bearer = {"Authorization": "Bearer ann", "X-API-Key": ""}

    entered = await table.get("/t/admin", headers=bearer)
    refused = await table.get("/t/text", headers=bearer)

    assert entered.json() == {"by": "ann (token)"}
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


async def test_methods_heads_and_empty_answers(table: httpx2.AsyncClient) -> None:
    wrong = await table.get("/t/wishes")
    head = await table.head("/t/text")
    gone = await table.delete("/t/wishes")

    assert (wrong.status_code, wrong.headers["allow"]) == (405, "DELETE, POST")
    assert head.status_code == 200
    assert (gone.status_code, gone.content) == (204, b"")


async def test_every_answer_has_an_id_and_guards(table: httpx2.AsyncClient) -> None:
    own = await table.get("/t/projects/default/x", headers={"X-Request-Id": "mine-0001"})
    made = await table.get("/t/projects/default/x", headers={"X-Request-Id": 'bad id: " x'})

    assert own.headers["x-request-id"] == "mine-0001"
    assert len(made.headers["x-request-id"]) == 18
    assert own.headers["x-content-type-options"] == "nosniff"
    assert own.headers["cache-control"] == "no-store"


async def test_a_path_stands_once_in_a_table(api: Calling) -> None:
    runtime = Runtime(settings_for(api.database), api.pool, Services())
    with pytest.raises(ValueError, match="twice"):
        Routing([TABLE[0], TABLE[0]], runtime)
