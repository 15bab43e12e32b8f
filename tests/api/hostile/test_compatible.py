"""Naughty strings at each place of a request to the compatible APIs: no unexpected error."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
import pytest

from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.table import SHAPES
from tests.api.hostile.bodies import BODIES
from tests.api.hostile.bodiless import SHARED, WITHOUT_BODY
from tests.api.hostile.corpus import NAUGHTY_STRINGS
from tests.api.hostile.test_inputs import FORM, JSON, NO_ID, SHARE, places, replaced
from tests.api.support.anybody import for_anybody
from tests.api.support.modes import credentials

pytestmark = pytest.mark.anyio
OF_FILES = "/import"
"""End of the paths whose body has a file."""
IN_JSON = {
    "POST /v1/analytics/logs",
    "POST /v1/analytics/metrics",
    "POST /v1/analytics/tags",
    "PUT /v1/analytics/tags",
}
"""Requests of Mailgun's API whose body is no form."""
BOUNDARY = "between"
FILES = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


@dataclass(frozen=True, slots=True)
class CompatEndpoint:
    """An endpoint of a compatible API."""

    api: str
    endpoint: Endpoint

    @property
    def name(self) -> str:
        name = f"{self.endpoint.method} {self.endpoint.path}"
        return f"{self.api}: {name}" if name in SHARED else name

    def url(self, **values: str) -> str:
        given = {"domain": "example.com", **values}
        return re.sub(
            r"{(\w+)}",
            lambda found: quote(given.get(found[1], NO_ID), safe=""),
            self.endpoint.path,
        )


ALL = [CompatEndpoint(shape.name, each) for shape in SHAPES for each in shape.endpoints]
WITH_PLACES = [one for one in ALL if one.name in BODIES or "{" in one.endpoint.path]


@pytest.fixture(scope="module")
async def http(module_db: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with for_anybody(module_db) as client:
        yield client


def requests(
    one: CompatEndpoint, strings: Sequence[str]
) -> Iterator[tuple[str, bytes, dict[str, str]]]:
    """Yield requests in which one string after another is replaced by a naughty string."""
    body: Any = BODIES.get(one.name)
    in_path = re.findall(r"{(\w+)}", one.endpoint.path)
    turns = [*(("body", at) for at in places(body)), *(("path", (name,)) for name in in_path)]
    for number, text in enumerate(strings):
        part, at = turns[number % len(turns)]
        url = one.url(**({str(at[0]): text} if part == "path" else {}))
        changed = replaced(body, at, text) if part == "body" else body
        if body is None:
            yield url, b"", {}
        elif one.endpoint.path.endswith(OF_FILES):
            yield url, with_file(changed["file"]), FILES
        elif one.api == "mailgun" and one.name not in IN_JSON:
            yield url, urlencode(changed).encode(), FORM
        else:
            yield url, json.dumps(changed).encode(), JSON


def with_file(text: str) -> bytes:
    """Return a form with one file of this text."""
    head = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
    content = text.encode("utf-8", "surrogatepass")
    begin = f"--{BOUNDARY}\r\n{head}\r\nContent-Type: text/csv\r\n\r\n".encode()
    return begin + content + f"\r\n--{BOUNDARY}--\r\n".encode()


async def asked(http: httpx2.AsyncClient, one: CompatEndpoint, strings: Sequence[str]) -> None:
    key = http.headers["X-API-Key"]
    who = {"X-API-Key": "", **credentials(one.api, key)}
    for url, body, kind in requests(one, strings):
        answer = await http.request(one.endpoint.method, url, content=body, headers=kind | who)
        at = f"{one.endpoint.method} {url} with {body!r}"
        assert answer.status_code != 401, at
        assert answer.status_code < 500, f"{at}: {answer.text[:500]}"
        if answer.status_code >= 400:
            assert answer.json(), at


def test_each_endpoint_that_takes_a_body_has_one_here() -> None:
    writing = {one.name for one in ALL if one.endpoint.method in ("POST", "PUT", "PATCH")}
    assert writing - WITHOUT_BODY <= set(BODIES) <= {one.name for one in ALL}


@pytest.mark.parametrize("one", WITH_PLACES, ids=lambda one: one.name)
async def test_naughty_strings(http: httpx2.AsyncClient, one: CompatEndpoint) -> None:
    await asked(http, one, NAUGHTY_STRINGS[WITH_PLACES.index(one) % SHARE :: SHARE])


@pytest.mark.soak
@pytest.mark.parametrize("one", WITH_PLACES, ids=lambda one: one.name)
async def test_all_naughty_strings_everywhere(
    http: httpx2.AsyncClient, one: CompatEndpoint
) -> None:
    for first in range(SHARE):  # so that each place has each string, where there are few places
        await asked(http, one, NAUGHTY_STRINGS[first:] + NAUGHTY_STRINGS[:first])
