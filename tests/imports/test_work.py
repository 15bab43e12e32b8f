"""Workers take the lines of an import once each, and say of the others what was wrong where."""

import pytest

from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.imports import handler, requests
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts import people
from tests.imports import steps

pytestmark = pytest.mark.anyio

FILE = (
    "email;first name;birthday;plan\r\n"
    "ann@example.com;Ann;1990-05-31;pro\r\n"
    'ben@example.com;Ben;;"pro\r\nmore"\r\n'
    "nobody;Nobody;;pro\r\n"
    "eve@example.com;Eve;2990-01-01;pro\r\n"
    "kim@example.com;Kim;;pro;more\r\n"
    "ann@example.com;Anna;;pro\r\n"
)


async def test_lines_are_taken_and_refused_ones_are_named_by_line_column_and_reason(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        news = await people.list_of(conn, project)
        waiting = await steps.begun(conn, project, FILE, list="news")
        await steps.worked(database)
        done = await steps.found(conn, project, waiting.id)
        members = await people.members(conn, project, news)
        kept = await make.scalar(conn, "SELECT count(*) FROM mailqueue.import_parts")
        listed = await requests.page(conn, project, done.kind, limit=5)

    assert (waiting.state, waiting.lines, waiting.lines_read, waiting.bytes) == (
        *("waiting", 8, 0),
        len(FILE),
    )
    assert (done.state, done.lines_read, done.refused) == ("done", 6, 3)
    assert done.taken == {"added": 2, "changed": 1}
    assert [(one.line, one.column) for one in done.refusals] == [
        (5, "email"),
        (6, "date_of_birth"),
        (7, None),
    ]
    assert all(one.reason for one in done.refusals)
    assert sorted(members) == ["ann@example.com", "ben@example.com"]
    assert kept == 0, "the file is deleted with the end"
    assert [(one.id, one.refused, one.refusals) for one in listed] == [(done.id, 3, [])]


async def test_an_import_goes_on_where_it_let_others_go_first(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "MAX_COMMITS", 1)
    async with connect(database) as conn:
        project = await make.project_named(conn)
        begun = await steps.begun(conn, project, steps.csv_of(5))
        seen = []
        for _ in range(4):
            await steps.worked(database)
            one = await steps.found(conn, project, begun.id)
            seen.append((one.state, one.lines_read, one.taken))

    assert seen == [
        ("running", 2, {"added": 2}),
        ("running", 4, {"added": 4}),
        ("running", 5, {"added": 5}),
        ("done", 5, {"added": 5}),
    ]


async def test_lines_whose_commit_was_not_answered_are_counted_once(conn: Conn) -> None:
    project = await make.project_named(conn)
    begun = await steps.begun(conn, project, steps.csv_of(2))
    await conn.execute(
        "UPDATE mailqueue.imports SET status = 'assigned', claim_no = 7, lease_until = now()"
    )
    take = (
        "SELECT mailqueue.take_import_lines(%s, %s, 1,"
        ' \'[{"line": 2, "fields": {"email": "ann@example.com"}}]\', \'[]\')'
    )
    states = [await make.scalar(conn, take, begun.id, claim) for claim in (7, 7, 8)]

    assert states == ["more", "more", "lost"]
    assert (await steps.found(conn, project, begun.id)).taken == {"added": 1}


async def test_only_the_first_refused_lines_are_kept_and_all_are_counted(
    database: DatabaseSettings,
) -> None:
    lines = "email\n" + "nobody\n" * 1_003
    async with connect(database) as conn:
        project = await make.project_named(conn)
        begun = await steps.begun(conn, project, lines)
        await steps.worked(database, lines=500)
        done = await steps.found(conn, project, begun.id)

    assert (done.state, done.refused, len(done.refusals)) == ("done", 1_003, 1_000)


async def test_what_is_no_list_begins_no_import(conn: Conn) -> None:
    project = await make.project_named(conn)
    for content in (b"PK\x03\x04" + b"\0" * 100, "name\nann\n", '"email\n' + "x" * 2_000_000):
        with pytest.raises(InvalidField, match="file"):
            await steps.begun(conn, project, content)
    with pytest.raises(NotFound, match="list"):
        await steps.begun(conn, project, "email\n", list="nowhere")

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.imports") == 0


async def test_a_file_that_cannot_be_read_to_its_end_fails_and_keeps_what_was_taken(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        content = "[" + "".join(f'"p{number}@example.com", ' for number in range(4)) + "{"
        begun = await steps.begun(conn, project, content)
        await steps.worked(database)
        failed = await steps.found(conn, project, begun.id)

    assert (failed.state, failed.taken) == ("failed", {"added": 4})
    assert failed.error is not None
    assert failed.error.startswith("file: ")


async def test_a_project_has_a_bounded_number_of_unfinished_imports(conn: Conn) -> None:
    project = await make.project_named(conn)
    for _ in range(requests.MAX_UNFINISHED):
        await steps.begun(conn, project, "email\n")
    with pytest.raises(Conflict, match="5 imports"):
        await steps.begun(conn, project, "email\n")
    assert (await steps.begun(conn, project, "email\n", is_test=True)).state == "waiting"


async def test_contacts_of_a_test_key_stay_in_test_mode(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await steps.begun(conn, project, steps.csv_of(1), is_test=True)
        await steps.worked(database)
        assert await make.rows(conn, "SELECT is_test FROM mailqueue.contacts") == [(True,)]


async def test_an_erasure_destroys_files_of_its_project_that_are_not_finished(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project, other = await make.project_named(conn), await make.project(conn, "other")
        begun = [await steps.begun(conn, each, steps.csv_of(1)) for each in (project, other)]
        await steps.erased(conn, project, "person0@example.com")
        gone = (await steps.found(conn, project, begun[0].id)).state
        await steps.worked(database)
        after = [
            (await steps.found(conn, each, one.id)).state
            for each, one in zip((project, other), begun, strict=True)
        ]

    assert gone == "erased"
    assert after == ["erased", "done"]
