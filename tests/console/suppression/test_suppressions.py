"""Suppressions in the console: listed, added, imported from a file, exported."""

import csv
import io
import re
from html import unescape

import httpx2
import pytest

from mailqueue.console.suppression import adding
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.imports import steps as import_steps

pytestmark = pytest.mark.anyio

PATH = "/console/projects/default/suppressions"


async def logged_in(console: Visiting, visitor: Visitor, role: str = "project_admin") -> None:
    await console.add_user(role, role, "default")
    assert (await visitor.log_in(role)).status_code == 303


async def added(visitor: Visitor, **fields: str) -> httpx2.Response:
    return await visitor.submit(f"{PATH}/add", f"{PATH}/add", **fields)


async def imported(
    visitor: Visitor, content: bytes, *, name: str = "list.csv", **fields: str
) -> httpx2.Response:
    return await visitor.upload(f"{PATH}/import", content, name=name, **fields)


async def suppressed(console: Visiting) -> list[tuple[str, str, str]]:
    async with console.connection() as conn:
        return await make.rows(
            conn,
            "SELECT address, reason, category FROM mailqueue.suppressions ORDER BY address",
        )


async def test_addresses_are_suppressed_all_or_none_and_queued_mail_is_not_sent(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        await make.queued_email(conn, recipient_email="ann@example.com")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        wrong = await added(visitor, addresses="ann@example.com\nnobody\n", detail="a <b>")
        none = await added(visitor, addresses=" \n")
        late = await added(visitor, addresses="ann@example.com", expires="2030-13-01")
        before = await suppressed(console)
        done = await added(
            visitor, addresses="ann@example.com\r\n\r\nben@example.com", category="news"
        )
        page = (await visitor.get(done.headers["location"])).text

    assert wrong.status_code == none.status_code == late.status_code == 422
    assert "Line 2:" in unescape(wrong.text)
    assert "ann@example.com\nnobody" in wrong.text
    assert 'value="a &lt;b&gt;"' in wrong.text
    assert "Must be a day such as" in late.text
    assert before == []
    assert await suppressed(console) == [
        ("ann@example.com", "manual", "news"),
        ("ben@example.com", "manual", "news"),
    ]
    assert "project_admin (console)" in page


async def test_a_form_that_is_sent_twice_suppresses_once(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(f"{PATH}/add", f"{PATH}/add")
        fields["addresses"] = "ann@example.com"
        await visitor.post(f"{PATH}/add", fields)
        again = await visitor.post(f"{PATH}/add", fields)
        page = (await visitor.get(again.headers["location"])).text

    assert "was not done again" in page


async def followed(
    visitor: Visitor, begun: httpx2.Response, database: DatabaseSettings
) -> httpx2.Response:
    """Let a worker take the lines of an import, and return the page of its progress."""
    await import_steps.worked(database)
    return await visitor.get(begun.headers["location"])


async def test_a_file_is_checked_imported_and_its_bad_lines_are_named(
    console: Visiting, database: DatabaseSettings
) -> None:
    content = b"email,reason\nann@example.com,complaint\n<b>nobody,\nben@example.com,\n"
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        checked = await imported(visitor, content, checks="on", name="<list>.csv")
        before = await suppressed(console)
        begun = [await imported(visitor, content, reason="unsubscribed") for _ in range(2)]
        done, again = [await followed(visitor, one, database) for one in begun]

    assert "would be imported; nothing was changed yet" in checked.text
    assert "&lt;list&gt;.csv" in checked.text
    assert "<b>nobody" not in checked.text
    assert before == []
    assert "3 lines read</b>, 2 added, 1 refused" in done.text
    assert "<b>Line 3</b> <bdi>email</bdi>" in done.text
    assert "Suppressions of <bdi>list.csv</bdi>" in done.text
    assert "2 there already" in again.text
    assert await suppressed(console) == [
        ("ann@example.com", "complaint", ""),
        ("ben@example.com", "unsubscribed", ""),
    ]


async def test_a_file_in_another_encoding_is_read_and_one_that_is_no_list_is_refused(
    console: Visiting, database: DatabaseSettings
) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        wide = "email;name\nann@example.com;Zoë\n".encode("utf-16")
        latin = await followed(visitor, await imported(visitor, wide), database)
        zipped = await imported(visitor, b"PK\x03\x04" + b"\0" * 1_000)
        empty = await imported(visitor, b"")
        unknown = await imported(visitor, b"email\nben@example.com\n", reason="<x>")
        hidden = await visitor.form(f"{PATH}/import", f"{PATH}/import")
        without = await visitor.http.post(
            f"{PATH}/import",
            data=hidden,
            files={"file": ("", b"")},
            headers={"Origin": visitor.origin},
        )

    assert "1 added" in latin.text
    for response in (zipped, unknown, without):
        assert response.status_code == 422
        assert "Nothing was changed" in response.text
    assert empty.status_code in (303, 422)
    assert "Choose a file" in without.text


async def test_a_form_with_a_file_needs_session_token_and_origin_and_has_a_bound(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"email\nann@example.com\n"
    async with console.visitor() as visitor, console.visitor() as anonymous:
        await logged_in(console, visitor)
        files = {"file": ("list.csv", content, "text/csv")}
        origin = {"Origin": visitor.origin}
        foreign = await visitor.http.post(
            f"{PATH}/import", files=files, headers={"Origin": "https://example.net"}
        )
        tokenless = await visitor.http.post(f"{PATH}/import", files=files, headers=origin)
        logged_out = await anonymous.http.post(f"{PATH}/import", files=files, headers=origin)
        plain = await visitor.post(f"{PATH}/import", {"token": "x"})
        json = await visitor.http.post(f"{PATH}/import", json={}, headers=origin)
        cut = await visitor.http.post(
            f"{PATH}/import",
            content=b"--x\r\nContent-Disp",
            headers=origin | {"Content-Type": "multipart/form-data; boundary=x"},
        )
        hidden = await visitor.form(f"{PATH}/import", f"{PATH}/import")
        large = await visitor.http.post(
            f"{PATH}/import",
            data=hidden,
            files={"file": ("list.csv", b"x" * (adding.MAX_FILE_BYTES + 70_000), "text/csv")},
            headers=origin,
        )
        many = await visitor.http.post(
            f"{PATH}/import",
            data=hidden,
            files=[("file", (f"{n}.csv", content, "text/csv")) for n in range(3)],
            headers=origin,
        )

    assert (foreign.status_code, tokenless.status_code) == (403, 403)
    assert (logged_out.status_code, plain.status_code, json.status_code) == (303, 403, 415)
    assert (cut.status_code, large.status_code, many.status_code) == (403, 413, 400)
    assert await suppressed(console) == []


async def test_the_list_is_filtered_read_page_by_page_and_exported(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        names = "\n".join(f"person{number}@example.com" for number in range(60))
        await added(visitor, addresses=names, category="news", detail="=HYPERLINK()<i>")
        await added(visitor, addresses="ann@example.org")
        first = (await visitor.get(f"{PATH}?category=news")).text
        following = re.search(r'rel="next" href="([^"]*)"', first)
        assert following is not None
        second = (await visitor.get(unescape(following[1]))).text
        found = (await visitor.get(f"{PATH}?q=@example.org")).text
        none = (await visitor.get(f"{PATH}?reason=complaint")).text
        exported = await visitor.get(f"{PATH}/export?category=news")
        for name in ("q", "reason", "category", "after", "done"):
            hostile = await visitor.http.get(PATH, params={name: '"><script>x\0'})
            assert (hostile.status_code, "<script>x" in hostile.text) == (200, False), name
        wrong = await visitor.get(f"{PATH}/export?reason=x")

    assert (first + second).count("<bdi>person") == 60
    assert 'rel="next"' not in second
    assert "ann@example.org" in found
    assert "person1@" not in found
    assert "No suppression matches" in none
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert {row["email"] for row in rows} == {f"person{number}@example.com" for number in range(60)}
    assert "attachment" in exported.headers["content-disposition"]
    assert wrong.status_code == 422


async def test_a_viewer_reads_and_changes_nothing(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "viewer")
        page = await visitor.get(PATH)
        others = [
            (await visitor.get(f"{PATH}/{part}")).status_code
            for part in ("add", "import", "export")
        ]

    assert page.status_code == 200
    assert "Suppress addresses" not in page.text
    assert others == [403, 403, 403]
