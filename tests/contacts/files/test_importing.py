"""Contacts are imported line by line; what is wrong with a line is said, and stops no other."""

import asyncio
import csv
import io
import json
from typing import Any

import pytest
from psycopg import DatabaseError

from mailqueue.contacts import importing
from mailqueue.contacts.exporting import export
from mailqueue.contacts.importing import import_contacts
from mailqueue.contacts.model import ContactTally
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.suppression.lists.exporting import Format
from tests import make
from tests.contacts import people
from tests.templates.making import lending

pytestmark = pytest.mark.anyio

FIELDS = "first_name, last_name, date_of_birth::text, attributes"


async def imported(conn: Conn, content: bytes | str, **given: Any) -> ContactTally:
    tally = ContactTally()
    project = await make.project_named(conn)
    file = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    await import_contacts(conn, project, file=file, tally=tally, **given)
    return tally


async def contacts(conn: Conn) -> list[tuple[Any, ...]]:
    return await make.rows(
        conn, f"SELECT email, {FIELDS} FROM mailqueue.contacts ORDER BY email_key"
    )


async def test_lines_are_added_changed_and_unchanged_and_bad_ones_are_named(conn: Conn) -> None:
    project = await make.project_named(conn)
    await people.put(conn, project, "bob@example.com", first_name="Bob", last_name="Ray")
    await people.put(conn, project, "eve@example.com", first_name="Eve")
    text = (
        "\ufeffEmail;First Name;birthday;Plan\r\n"
        'ann@example.com;"Ann; ""A""";1990-02-28;pro\r\n'
        "BOB@example.com;Robert;;\r\n"
        "eve@example.com;Eve;;\r\n"
        "nobody;x;;\r\n"
        "dan@example.com;Dan;31.02.1990;\r\n"
        "too;few\r\n"
    )

    tally = await imported(conn, text)

    counts = (tally.added, tally.changed, tally.unchanged, tally.bad)
    assert counts == (1, 1, 1, 3)
    bad = {one.line: one for one in tally.result(is_trial=False).errors}
    assert [bad[line].column for line in (5, 6, 7)] == ["email", "date_of_birth", None]
    assert bad[7].reason == "it has 2 values, the header has 4"
    assert await contacts(conn) == [
        ("ann@example.com", 'Ann; "A"', None, "1990-02-28", {"plan": "pro"}),
        ("BOB@example.com", "Robert", "Ray", None, {}),
        ("eve@example.com", "Eve", None, None, {}),
    ]
    again = await imported(conn, text)
    assert (again.added, again.changed, again.unchanged, again.bad) == (0, 0, 3, 3)


async def test_a_trial_changes_nothing_and_a_list_gets_the_contacts(conn: Conn) -> None:
    project = await make.project_named(conn)
    list_id = await people.list_of(conn, project)
    text = "email\nann@example.com\nbob@example.com\n"

    trial = await imported(conn, text, list_name="news", is_trial=True)
    assert (trial.added, await contacts(conn)) == (2, [])
    await imported(conn, text, list_name="news")
    assert len(await people.members(conn, project, list_id)) == 2
    with pytest.raises(InvalidField, match="there is no list"):
        await imported(conn, text, list_name="other")


async def test_a_full_project_keeps_what_it_has(
    conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "LINES_PER_COMMIT", 2)
    await conn.execute("UPDATE mailqueue.projects SET max_contacts = 3")
    lines = "".join(f"p{n}@example.com\n" for n in range(5))

    with pytest.raises(DatabaseError) as full:
        await imported(conn, "email\n" + lines)

    assert (full.value.sqlstate, full.value.diag.column_name) == ("MQ002", "max_contacts")
    assert len(await contacts(conn)) == 2


@pytest.mark.parametrize("form", list(Format))
async def test_an_export_is_read_back_and_has_no_formula(conn: Conn, form: Format) -> None:
    project = await make.project_named(conn)
    await people.put(
        conn,
        project,
        "ann@example.com",
        first_name="=1+1",
        last_name="'quoted",
        date_of_birth="1990-02-28",
        attributes={"plan": "pro", "n": [1, None]},
        consent_source="@form",
    )
    before = await contacts(conn)
    pieces = [piece async for piece in export(lending(conn), project, form=form)]
    written = b"".join(pieces)
    if form is Format.CSV:
        [row] = csv.DictReader(io.StringIO(written.decode()))
        assert (row["first_name"], row["consent_source"]) == ("'=1+1", "'@form")
    else:
        assert json.loads(written)[0]["first_name"] == "=1+1"
    await conn.execute("DELETE FROM mailqueue.contacts")

    tally = await imported(conn, written)

    assert (tally.added, tally.bad) == (1, 0)
    assert await contacts(conn) == before


async def test_memory_does_not_grow_with_the_file() -> None:
    """Lines are read as they are asked for: the first ones of an endless file are enough."""
    tally = ContactTally()

    class Endless(io.RawIOBase):
        asked = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            self.asked += 1
            text = (b"email\n" if self.asked == 1 else b"") + b"ann@example.com\n" * 100
            buffer[: len(text)] = text
            return len(text)

    source = Endless()
    lines = importing._read(io.BufferedReader(source), tally)

    first = [next(lines) for _ in range(1000)]
    assert [one[1]["email"] for one in first if isinstance(one, tuple)] == [
        "ann@example.com"
    ] * 1000
    assert source.asked < 40
    lines.close()


async def test_bad_lines_let_other_work_go_on(conn: Conn) -> None:
    turns, is_done = 0, False

    async def count() -> None:
        nonlocal turns
        while not is_done:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    tally = await imported(conn, "email\n" + "nobody,too many\n" * 20_000)
    is_done = True
    await counting

    assert (tally.bad, tally.added) == (20_000, 0)
    assert turns >= 20_000 / importing.LINES_PER_COMMIT
