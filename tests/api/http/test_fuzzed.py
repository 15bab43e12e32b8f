"""Valid and invalid requests generated from the OpenAPI document cause no unexpected error."""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import httpx2
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from mailqueue.api.http.openapi.document import operation_id
from mailqueue.api.table import ENDPOINTS
from tests.api.support.anybody import for_anybody
from tests.api.support.calling import ORIGIN
from tests.api.support.document import DOCUMENT

pytestmark = pytest.mark.anyio

OURS = {"authorization", "x-api-key", "connection", "accept-encoding", "content-length"}
LOADED = schemathesis.openapi.from_dict(DOCUMENT)


def generators() -> Iterator[APIOperation[Any, Any, Any, Any]]:
    """Yield what generates the requests of each operation; fail for one that cannot be read."""
    for found in LOADED.get_all_operations():
        assert isinstance(found, Ok), found
        yield found.ok()


OPERATIONS = {f"{each.method.upper()} {each.path}": each for each in generators()}
NAMES = {f"{each.method} {each.path}": operation_id(each) for each in ENDPOINTS}


@pytest.fixture(scope="module")
async def http(module_db: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with for_anybody(module_db) as client:
        yield client


async def told(http: httpx2.AsyncClient, name: str, case: Any) -> httpx2.Response:
    """Send a generated request as a new client."""
    wanted = case.as_transport_kwargs(base_url=ORIGIN)
    headers = {
        key: value.encode("utf-8", "surrogateescape")
        for key, value in wanted["headers"].items()
        if key.lower() not in OURS
    }
    if name.partition(" ")[2].startswith("/admin/"):
        headers["X-API-Key"] = b""
        headers["Authorization"] = b"Bearer ann"
    body = {key: wanted[key] for key in ("json", "data", "params") if wanted.get(key) is not None}
    if isinstance(body.get("data"), bytes | str):
        body["content"] = body.pop("data")
    return await http.request(wanted["method"], wanted["url"], headers=headers, **body)


def check(name: str, answer: httpx2.Response) -> None:
    """Check that the response is documented."""
    method, _, path = name.partition(" ")
    assert answer.status_code < 500, (name, answer.text)
    said = DOCUMENT["paths"][path][method.lower()]["responses"]
    if answer.status_code >= 400:
        schema = {"$ref": "#/components/schemas/Error"}
        assert answer.json()["statusCode"] == answer.status_code
    else:
        assert str(answer.status_code) in said, (name, answer.status_code)
        found = said[str(answer.status_code)].get("content", {}).get("application/json")
        if found is None or not answer.content:
            return
        schema = found["schema"]
    validator = jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    faults = [
        f"{fault.instance_path}: {fault.message}" for fault in validator.iter_errors(answer.json())
    ]
    assert faults == [], (name, answer.text[:2000])


def made_up(name: str, mode: GenerationMode) -> st.SearchStrategy[Any]:
    """Return generated requests of one kind, within the caller's project."""
    operation = OPERATIONS[name]
    path = {"pid": "default"} if "{pid}" in name else None
    strategy: st.SearchStrategy[Any] = operation.as_strategy(
        generation_mode=mode, path_parameters=path
    )
    return strategy


def some_of(strategy: st.SearchStrategy[Any], examples: int) -> list[Any]:
    """Draw that many requests; they are sent afterwards, in the application's event loop."""
    cases: list[Any] = []

    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def collect(case: Any) -> None:
        cases.append(case)

    collect()
    return cases


async def tried(
    http: httpx2.AsyncClient, name: str, *, examples: int, modes: Iterable[GenerationMode]
) -> None:
    for mode in modes:
        for case in some_of(made_up(name, mode), examples):
            check(name, await told(http, name, case))


CAN_BE_WRONG = {f"{each.method} {each.path}" for each in ENDPOINTS if each.request or each.query}


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, list(GenerationMode)[n % 2]) for n, name in enumerate(sorted(CAN_BE_WRONG))],
)
async def test_no_request_is_a_fault_of_ours(
    http: httpx2.AsyncClient, name: str, mode: GenerationMode
) -> None:
    """Valid and invalid requests alternate, because generating them is slow; the long form has
    many.
    """
    await tried(http, name, examples=1, modes=[mode])


@pytest.mark.soak
@pytest.mark.parametrize("name", OPERATIONS, ids=lambda name: NAMES[name])
async def test_nor_are_many(http: httpx2.AsyncClient, name: str) -> None:
    modes = list(GenerationMode) if name in CAN_BE_WRONG else [GenerationMode.POSITIVE]
    await tried(http, name, examples=100, modes=modes)
