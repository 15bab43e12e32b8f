"""The trap's REST API: what tests ask for, and that other sites cannot ask."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap import inbox, rest, store
from mailqueue.trap.summary import caught
from tests.rows import each_row
from tests.trap.test_pages import catch, client_of, numbered
from tests.trap.trapping import HTML

pytestmark = pytest.mark.anyio
MESSAGES = "/trap/api/messages"
WITH_FILE = (
    b"Subject: file\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\nContent-Type: text/plain\r\n\r\nhi\r\n"
    b'--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="a.csv"\r\n\r\n'
    b"1,2\r\n--b--\r\n"
)


@pytest.fixture
async def pool(database: DatabaseSettings) -> AsyncIterator[Pool]:
    async with open_pool(database, is_required=False) as opened:
        yield opened


@pytest.fixture
async def http(pool: Pool, database: DatabaseSettings) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(pool, database) as client:
        yield client


def subjects(answer: httpx2.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["subject"] for one in answer.json()["messages"]]


async def ids(http: httpx2.AsyncClient) -> list[int]:
    return [one["id"] for one in (await http.get(MESSAGES)).json()["messages"]]


async def test_pages_have_each_message_once_newest_first(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(5))

    first = await http.get(MESSAGES, params={"limit": 3})
    second = await http.get(MESSAGES, params={"limit": 3, "before": first.json()["next"]})

    assert (subjects(first), first.json()["total"]) == (["number 5", "number 4", "number 3"], 5)
    assert (subjects(second), second.json()["next"]) == (["number 2", "number 1"], None)


async def test_messages_are_searched_by_subject_and_address(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(3))
    async with borrow(pool, database) as conn:
        await store.add(conn, [caught("a@b.example", ("ann@test.example",), HTML)])

    assert subjects(await http.get(MESSAGES, params={"q": "number 2"})) == ["number 2"]
    found = await http.get(MESSAGES, params={"q": "ann@test.example"})
    assert subjects(found) == ["Receipt 😊 for you"]
    assert found.json()["messages"][0]["rcpt_to"] == ["ann@test.example"]
    assert subjects(await http.get(MESSAGES, params={"q": "%"})) == []


async def test_a_message_is_shown_with_its_content(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, HTML, WITH_FILE)
    of_file, of_html = await ids(http)

    shown = (await http.get(f"{MESSAGES}/{of_html}")).json()
    filed = (await http.get(f"{MESSAGES}/{of_file}")).json()
    source = await http.get(f"{MESSAGES}/{of_html}/source")

    assert (shown["mail_from"], shown["rcpt_to"]) == ("a@b.example", ["c@d.example"])
    assert shown["text"].strip() == "Thank you for the order."
    assert shown["html"].strip() == "<p>Thank you for <b>the order</b>.</p>"
    assert {"name": "Message-ID", "value": "<one@example.com>"} in shown["headers"]
    (file,) = filed["attachments"]
    assert (file["filename"], file["content_type"]) == ("a.csv", "text/csv")
    assert (source.content, source.headers["content-type"]) == (HTML, "message/rfc822")


async def test_a_message_is_deleted_and_then_all_are(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(3))
    newest = (await ids(http))[0]

    assert (await http.delete(f"{MESSAGES}/{newest}")).status_code == 204
    assert subjects(await http.get(MESSAGES)) == ["number 2", "number 1"]
    assert (await http.delete(f"{MESSAGES}/{newest}")).status_code == 404
    assert (await http.delete(MESSAGES)).json() == {"deleted": 2}
    assert await ids(http) == []


async def test_a_message_that_is_there_is_not_waited_for(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(3))
    oldest = (await ids(http))[-1]

    found = (await http.get(f"{MESSAGES}/wait", params={"q": "number"})).json()
    later = (await http.get(f"{MESSAGES}/wait", params={"after": oldest})).json()
    none = await http.get(f"{MESSAGES}/wait", params={"q": "number 4", "timeout": 0})

    assert (found["subject"], found["text"]) == ("number 1", "x")
    assert later["subject"] == "number 2"
    assert none.status_code == 404
    assert "0 s" in none.json()["error"]


async def test_a_message_that_comes_later_is_waited_for(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    async def waited() -> httpx2.Response:
        return await http.get(f"{MESSAGES}/wait", params={"q": "number 2", "timeout": 30})

    task = asyncio.create_task(waited())
    await catch(pool, database, *numbered(2))

    assert (await task).json()["subject"] == "number 2"


async def test_the_time_of_looks_is_part_of_the_time_that_is_waited(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    async def slow(*_given: Any, **_named: Any) -> None:
        looks.append("half a second")

    monkeypatch.setattr(inbox, "find_oldest", slow)
    monkeypatch.setattr(rest, "monotonic", lambda: len(looks) / 2)
    answer = await http.get(f"{MESSAGES}/wait", params={"timeout": 1})

    assert answer.status_code == 404
    assert len(looks) == 2


async def test_only_some_requests_wait_at_the_same_time(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "MAX_WAITING", 0)

    refused = await http.get(f"{MESSAGES}/wait", params={"timeout": 0})

    assert refused.status_code == 503
    assert refused.json()["error"]


@each_row(
    "path, query, named",
    [
        ("", {"limit": 201}, "limit"),
        ("", {"limit": 0}, "limit"),
        ("", {"limit": "all"}, "limit"),
        ("", {"before": "9" * 19}, "before"),
        ("", {"after": "-1"}, "after"),
        ("", {"q": "q" * 201}, "q"),
        ("", {"to": "ann@example.com"}, "to"),
        ("/wait", {"timeout": 31}, "timeout"),
        ("/wait", {"limit": 1}, "limit"),
    ],
)
async def test_what_is_invalid_is_named(
    http: httpx2.AsyncClient, path: str, query: Any, named: str
) -> None:
    answer = await http.get(f"{MESSAGES}{path}", params=query)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"{named}: ")


async def test_a_filter_does_not_delete_everything(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(1))

    answer = await http.delete(MESSAGES, params={"q": "none"})

    assert answer.status_code == 400
    assert subjects(await http.get(MESSAGES)) == ["number 1"]


@each_row("message_id", ["7", "0", str(2**63), "9" * 30, "9" * 5_000, "٣", "-1"])
@each_row("method", ["GET", "DELETE"])
async def test_a_message_that_is_not_there_is_not_found(
    http: httpx2.AsyncClient, method: str, message_id: str
) -> None:
    answer = await http.request(method, f"{MESSAGES}/{message_id}")

    assert answer.status_code == 404
    assert answer.json()["error"]


async def test_other_sites_delete_nothing_and_a_password_is_needed_where_one_is_set(
    http: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(1))
    evil = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}

    assert (await http.delete(MESSAGES, headers=evil)).status_code == 403
    rebound = await http.get(MESSAGES, headers={"Host": "evil.example"})
    assert rebound.status_code == 421
    async with client_of(pool, database, password="s3cret") as locked:
        assert (await locked.get(MESSAGES)).status_code == 401
        assert subjects(await locked.get(MESSAGES, auth=("any", "s3cret"))) == ["number 1"]
