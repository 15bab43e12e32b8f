"""Published hostile inputs at every endpoint: no unexpected error, and no invalid JSON accepted."""

import base64
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
import pytest

from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.openapi.document import operation_id
from mailqueue.api.table import ENDPOINTS, SHAPES
from tests.api.hostile.corpus import FILES, JSON_TEST_SUITE, NAUGHTY_STRINGS
from tests.api.support.anybody import for_anybody

pytestmark = pytest.mark.anyio
T = TypeVar("T")

SHARE = 12
"""Each input is sent to one of this many endpoints."""
NO_ID = "018f0000-0000-7000-8000-000000000000"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ADMIN = {"X-API-Key": "", "Authorization": "Bearer ann"}
WRITING = [each for each in ENDPOINTS if each.method in ("POST", "PUT", "PATCH")]
RAW = {"/v1/suppressions/import", "/v1/attachments"}
"""Paths whose bodies are files."""
COMPATIBLE = [
    (shape.name, each)
    for shape in SHAPES
    for each in shape.endpoints
    if each.method in ("POST", "PUT", "PATCH")
]
Inputs = Sequence[tuple[str, bytes]]
ALL: Inputs = [*JSON_TEST_SUITE.items(), *FILES.items()]


@pytest.fixture(scope="module")
async def http(module_db: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with for_anybody(module_db) as client:
        yield client


def share_of(inputs: Sequence[T], endpoint: Endpoint) -> Sequence[T]:
    return inputs[ENDPOINTS.index(endpoint) % SHARE :: SHARE]


def url_of(endpoint: Endpoint, **values: str) -> str:
    """Return a path of an endpoint, in the caller's own project."""
    given = {"pid": "default", **values}
    return re.sub(
        r"{(\w+)}", lambda found: quote(given.get(found[1], NO_ID), safe=""), endpoint.path
    )


def check(endpoint: Endpoint, what: str, answer: httpx2.Response) -> None:
    at = f"{endpoint.method} {endpoint.path} with {what}"
    assert answer.status_code < 500, f"{at}: {answer.text[:500]}"
    if answer.status_code >= 400 and answer.content:
        assert answer.json()["statusCode"] == answer.status_code, at


async def sent(http: httpx2.AsyncClient, endpoint: Endpoint, inputs: Inputs) -> None:
    headers = JSON | (ADMIN if endpoint.superadmin else {})
    for name, body in inputs:
        answer = await http.request(
            endpoint.method, url_of(endpoint), content=body, headers=headers
        )
        check(endpoint, name, answer)
        if endpoint.request is not None and name.startswith("n_"):
            assert answer.status_code >= 400, name


@pytest.mark.parametrize("endpoint", WRITING, ids=operation_id)
async def test_files_as_bodies(http: httpx2.AsyncClient, endpoint: Endpoint) -> None:
    await sent(http, endpoint, ALL if endpoint.path in RAW else share_of(ALL, endpoint))


@pytest.mark.soak
@pytest.mark.parametrize("endpoint", WRITING, ids=operation_id)
async def test_all_files_as_bodies(http: httpx2.AsyncClient, endpoint: Endpoint) -> None:
    await sent(http, endpoint, ALL)


@pytest.mark.parametrize(
    ("shape", "endpoint"), COMPATIBLE, ids=lambda one: one if isinstance(one, str) else one.path
)
async def test_files_as_bodies_of_compatible_apis(
    http: httpx2.AsyncClient, shape: str, endpoint: Endpoint
) -> None:
    key = http.headers["X-API-Key"]
    basic = base64.b64encode(f"api:{key}".encode()).decode()
    who = {
        "X-API-Key": "",
        "X-Postmark-Server-Token": key,
        "Authorization": f"Basic {basic}" if shape == "mailgun" else f"Bearer {key}",
    }
    for number, (name, body) in enumerate(ALL):
        kind = JSON if number % 4 else FORM
        answer = await http.request(
            endpoint.method,
            url_of(endpoint, domain="example.com"),
            content=body,
            headers=kind | who,
        )
        assert answer.status_code != 401, answer.text
        assert answer.status_code < 500, f"{endpoint.path} with {name}: {answer.text[:500]}"


Place = tuple[str | int, ...]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Yield where a document has strings."""
    match value:
        case str():
            yield at
        case dict():
            for name, item in value.items():
                yield from places(item, (*at, name))
        case list():
            for number, item in enumerate(value):
                yield from places(item, (*at, number))


def replaced(value: Any, at: Place, text: str) -> Any:
    if not at:
        return text
    copy = value.copy()
    copy[at[0]] = replaced(value[at[0]], at[1:], text)
    return copy


def requests(endpoint: Endpoint, strings: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield requests in which one string after another is replaced by a naughty string."""
    asked = list(endpoint.query.model_fields) if endpoint.query is not None else []
    within = [*places(endpoint.example or {})] if endpoint.request is not None else []
    named = [name for name in re.findall(r"{(\w+)}", endpoint.path) if name != "pid"]
    turns = [*(("query", one) for one in asked), *(("body", one) for one in within)]
    turns += [("path", one) for one in named]
    for number, text in enumerate(strings if turns else ()):
        part, place = turns[number % len(turns)]
        more: dict[str, Any] = {"json": endpoint.example} if endpoint.request is not None else {}
        url = url_of(endpoint, **({str(place): text} if part == "path" else {}))
        if part == "query":
            more["params"] = {place: text}
        if part == "body":
            body = replaced(endpoint.example, place, text)  # type: ignore[arg-type]
            more = {"content": json.dumps(body).encode(), "headers": JSON}
        yield url, more


async def asked(http: httpx2.AsyncClient, endpoint: Endpoint, strings: Sequence[str]) -> None:
    for url, more in requests(endpoint, strings):
        headers = more.get("headers", {}) | (ADMIN if endpoint.superadmin else {})
        answer = await http.request(endpoint.method, url, **{**more, "headers": headers})
        check(endpoint, f"{url} {more}", answer)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=operation_id)
async def test_naughty_strings(http: httpx2.AsyncClient, endpoint: Endpoint) -> None:
    await asked(http, endpoint, share_of(NAUGHTY_STRINGS, endpoint))


@pytest.mark.soak
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=operation_id)
async def test_all_naughty_strings_everywhere(http: httpx2.AsyncClient, endpoint: Endpoint) -> None:
    for first in range(SHARE):  # so that each place has each string, where there are few places
        await asked(http, endpoint, NAUGHTY_STRINGS[first:] + NAUGHTY_STRINGS[:first])
