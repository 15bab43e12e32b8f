"""`/v1/contacts/imports`: large files of contacts, whose import can be looked at while it runs."""

from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling
from tests.contacts import people
from tests.imports import steps

pytestmark = pytest.mark.anyio
PATH = "/v1/contacts/imports"
FILE = "email,date_of_birth\nann@example.com,1990-05-31\nbob@example.com,tomorrow\n"


async def posted(api: Calling, content: str | bytes, query: str = "") -> Any:
    return await api.http.post(f"{PATH}{query}", content=content, headers={"X-API-Key": api.key})


async def test_an_import_is_begun_followed_and_listed(api: Calling) -> None:
    async with connect(api.database) as conn:
        await people.list_of(conn, await make.project_named(conn))
    begun = await posted(api, FILE, "?list=news")
    assert begun.status_code == 202, begun.text
    waiting = begun.json()
    await steps.worked(api.database)
    done = (await api.get(f"{PATH}/{waiting['id']}")).json()
    listed = (await api.get(PATH)).json()["data"]

    assert (waiting["state"], waiting["lines"], waiting["lines_read"]) == ("waiting", 3, 0)
    assert (done["state"], done["lines_read"], done["taken"]) == ("done", 2, {"added": 1})
    [bad] = done["refusals"]
    assert (bad["line"], bad["column"], done["refused"]) == (3, "date_of_birth", 1)
    assert "tomorrow" in bad["reason"]
    assert done["options"] == {"list": "news"}
    assert [one["id"] for one in listed] == [waiting["id"]]


async def test_what_cannot_be_imported_is_refused_before_it_begins(api: Calling) -> None:
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await people.list_of(conn, project, "pros", condition='$.language == "de"')
        for content, query, status, field in (
            (b"PK\x03\x04" + b"\0" * 100, "", 422, "file"),
            (b"name\nann\n", "", 422, "file"),
            (b"email\n", "?list=nowhere", 404, "list"),
            (b"email\n", "?list=pros", 422, "list"),
        ):
            answer = await posted(api, content, query)
            assert (answer.status_code, field in answer.text) == (status, True), answer.text

        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.imports") == 0


async def test_imports_of_another_project_are_not_there(api: Calling) -> None:
    async with connect(api.database) as conn:
        other = await make.project(conn, "other")
        theirs = await steps.begun(conn, other, FILE)
    assert (await api.get(f"{PATH}/{theirs.id}")).status_code == 404
    assert (await api.get(f"{PATH}/{uuid4()}")).status_code == 404
    assert (await api.get(PATH)).json()["data"] == []


async def test_an_import_is_cancelled_once_and_one_of_another_project_never(api: Calling) -> None:
    begun = (await posted(api, FILE)).json()
    async with connect(api.database) as conn:
        theirs = await steps.begun(conn, await make.project(conn, "other"), FILE)
    headers = {"X-API-Key": api.key}

    cancelled = await api.http.post(f"{PATH}/{begun['id']}/cancel", headers=headers)
    again = await api.http.post(f"{PATH}/{begun['id']}/cancel", headers=headers)
    refused = await api.http.post(f"{PATH}/{theirs.id}/cancel", headers=headers)

    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert (again.status_code, "it is cancelled" in again.text) == (409, True)
    assert refused.status_code == 404
