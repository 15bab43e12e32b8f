"""`/v1/suppressions/imports`: large files of suppressions, imported while one looks."""

from typing import Any

import pytest

from mailqueue.contract.background import ImportKind
from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling
from tests.imports import steps

pytestmark = pytest.mark.anyio
PATH = "/v1/suppressions/imports"
FILE = "email,reason\nann@example.com,complaint\nbob@example.com,\nnobody,\n"


async def posted(api: Calling, content: str | bytes, query: str = "") -> Any:
    return await api.http.post(f"{PATH}{query}", content=content, headers={"X-API-Key": api.key})


async def test_an_import_is_begun_followed_and_listed(api: Calling) -> None:
    begun = await posted(api, FILE, "?reason=unsubscribe")
    assert begun.status_code == 202, begun.text
    waiting = begun.json()
    await steps.worked(api.database)
    done = (await api.get(f"{PATH}/{waiting['id']}")).json()
    listed = (await api.get(PATH)).json()["data"]
    of_contacts = (await api.get("/v1/contacts/imports")).json()["data"]
    shown = (await api.get("/v1/suppressions")).json()["data"]

    assert (waiting["kind"], waiting["state"], waiting["lines"]) == ("suppressions", "waiting", 4)
    assert (done["state"], done["lines_read"], done["taken"]) == ("done", 3, {"added": 2})
    [bad] = done["refusals"]
    assert (bad["line"], bad["column"], done["refused"]) == (4, "email", 1)
    assert done["options"] == {"reason": "unsubscribed"}
    assert ([one["id"] for one in listed], of_contacts) == ([waiting["id"]], [])
    assert sorted((one["email"], one["reason"]) for one in shown) == [
        ("ann@example.com", "complaint"),
        ("bob@example.com", "unsubscribed"),
    ]


async def test_what_cannot_be_imported_is_refused_before_it_begins(api: Calling) -> None:
    for content, query, field in (
        (b"PK\x03\x04" + b"\0" * 100, "", "file"),
        (b"name\nann\n", "", "file"),
        (b"email\n", "?reason=because", "reason"),
    ):
        answer = await posted(api, content, query)
        assert (answer.status_code, field in answer.text) == (422, True), answer.text

    async with connect(api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.imports") == 0


async def test_imports_of_another_project_or_kind_are_not_there(api: Calling) -> None:
    async with connect(api.database) as conn:
        theirs = await steps.begun(
            conn, await make.project(conn, "other"), FILE, kind=ImportKind.SUPPRESSIONS
        )
        contacts = await steps.begun(conn, await make.project_named(conn), FILE)
    for one in (theirs, contacts):
        assert (await api.get(f"{PATH}/{one.id}")).status_code == 404
    assert (await api.get(PATH)).json()["data"] == []


async def test_a_line_of_an_import_at_once_names_its_column_too(api: Calling) -> None:
    answers = [
        await api.http.post(f"/v1/{kind}/import", content=FILE, headers={"X-API-Key": api.key})
        for kind in ImportKind
    ]

    for answer in answers:
        [bad] = answer.json()["errors"]
        assert (bad["line"], bad["column"]) == (4, "email")
        assert not bad["reason"].startswith("email")
