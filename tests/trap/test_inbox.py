"""Searching caught mail."""

import pytest

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.trap import inbox, store
from mailqueue.trap.summary import caught

pytestmark = pytest.mark.anyio


async def caught_subjects(conn: Conn, *subjects: str) -> None:
    await inbox.clear(conn)
    raws = [f"Subject: {subject}\r\nFrom: a@b.example\r\n\r\nx".encode() for subject in subjects]
    await store.add(conn, [caught("a@b.example", ("c@d.example",), raw) for raw in raws])


async def test_pages_are_read_by_key_newest_first(conn: Conn) -> None:
    await caught_subjects(conn, "1", "2", "3", "4", "5")

    newest = await inbox.page(conn, limit=2)
    older = await inbox.page(conn, limit=2, before=newest[-1].id)
    newer = await inbox.page(conn, limit=10, after=older[-1].id)

    assert [each.subject for each in newest] == ["5", "4"]
    assert [each.subject for each in older] == ["3", "2"]
    assert [each.subject for each in newer] == ["5", "4", "3"]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("INVOICE", ["the Invoice"]),
        ("100%", ["100% off"]),
        ("a_b", ["a_b"]),
        ("back\\", ["back\\slash"]),
        ("%", ["100% off"]),
        ("c@d", ["the Invoice", "100% off", "a_b", "axb", "back\\slash"][::-1]),
        ("\0", ["the Invoice", "100% off", "a_b", "axb", "back\\slash"][::-1]),
        ("no such", []),
    ],
)
async def test_a_search_finds_the_text_itself(conn: Conn, search: str, found: list[str]) -> None:
    await caught_subjects(conn, "the Invoice", "100% off", "a_b", "axb", "back\\slash")

    assert [each.subject for each in await inbox.page(conn, limit=9, search=search)] == found
    assert await inbox.count(conn, search=search) == len(found)


async def test_reading_all_goes_through_every_page(conn: Conn) -> None:
    await caught_subjects(conn, *(str(n) for n in range(450)))

    subjects = [each.subject async for each in inbox.read_all(conn)]
    first = [each.subject async for each in inbox.read_all(conn, limit=201)]

    assert subjects == [str(n) for n in reversed(range(450))]
    assert first == subjects[:201]


async def test_what_was_cleared_is_not_found(conn: Conn) -> None:
    await caught_subjects(conn, "1")
    (only,) = await inbox.page(conn, limit=2)

    assert (await inbox.get(conn, only.id)).subject == "1"
    assert await inbox.clear(conn) == 1
    for gone in (only.id, 0, -1, 2**70):
        with pytest.raises(NotFound):
            await inbox.get(conn, gone)
