"""Contacts and lists in the console: found, looked at, imported from a file."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.timed_events import events
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.contacts import people
from tests.imports import steps as import_steps
from tests.sequences import running

pytestmark = pytest.mark.anyio

PROJECT = "/console/projects/default"
CONTACTS = f"{PROJECT}/contacts"
NEWS = f"{PROJECT}/lists/news"
HOSTILE = "<script>alert(1)</script>"
FILE = b"email,first_name,plan\nann@example.com,Ann,pro\n<b>nobody,,\nben@example.com,Ben,free\n"


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def ann(conn: Conn, project: UUID) -> UUID:
    """Add ann with a consent and a hostile name."""
    found = await people.put(
        conn,
        project,
        first_name=HOSTILE,
        language="de",
        time_zone="Europe/Berlin",
        consented_at="2020-05-01T10:00:00Z",
        consent_source="form",
        consent_wording="Yes, <b>please</b>",
        attributes={"plan": "pro", HOSTILE: [1, HOSTILE]},
    )
    assert found is not None
    return UUID(found["id"])


async def test_contacts_are_found_by_address_language_and_zone(
    console: Visiting, visitor: Visitor
) -> None:
    empty = (await visitor.get(CONTACTS)).text
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await ann(conn, project)
        await people.added(conn, project, "ben@example.com", language="en")
    assert "No contact yet" in empty
    for query, has_ann, has_ben in (
        ("", True, True),
        ("q=ANN@", True, False),
        ("language=de", True, False),
        ("language=en", False, True),
        ("time_zone=Europe/Berlin", True, False),
        ("q=nobody", False, False),
        ("q=%00", False, False),
    ):
        shown = (await visitor.get(f"{CONTACTS}?{query}")).text
        assert ("ann@example.com" in shown, "ben@example.com" in shown) == (has_ann, has_ben), query
    assert "No contact matches" in (await visitor.get(f"{CONTACTS}?q=nobody")).text


async def test_a_contact_shows_lists_consent_and_what_is_sent_next_and_was(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await running.project_with_template(conn)
        contact = await ann(conn, project)
        await people.list_of(conn, project, members=[contact])
        await running.sequence(conn, project)
        await running.enroll(conn, project, contact)
        await running.turn(conn, running.NOON)
        await events.put(
            conn,
            project,
            kind="renewal",
            at=datetime.now(UTC) + timedelta(days=9),
            contact_id=contact,
            payload={},
            template="hello",
            is_test=False,
            by="tests",
        )
    shown = (await visitor.get(f"{CONTACTS}/{contact}")).text

    assert f'href="{NEWS}"' in shown
    assert "2020-05-01 10:00 UTC" in shown
    assert "Yes, &lt;b&gt;please&lt;/b&gt;" in shown
    assert "next <bdi>tips</bdi>" in shown
    assert "renewal" in shown
    assert shown.count("Hello</bdi>") == 1, "the email of the first step"
    assert "Not suppressed" in shown
    assert HOSTILE not in shown


async def test_a_list_shows_its_condition_its_counts_and_its_members(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        contact = await ann(conn, project)
        (ben,) = await people.added(conn, project, "ben@example.com")
        await people.list_of(conn, project, members=[contact, ben])
        await people.list_of(conn, project, "pros", condition='$.attributes.plan == "pro"')
        await make.inserted(
            conn,
            "suppressions",
            {
                "project_id": project,
                "address": "ben@example.com",
                "reason": "unsubscribed",
                "category": "",
            },
        )
    lists = (await visitor.get(f"{PROJECT}/lists")).text
    news = (await visitor.get(f"{NEWS}?counts=on")).text
    pros = (await visitor.get(f"{PROJECT}/lists/pros?counts=on")).text
    missing = await visitor.get(f"{PROJECT}/lists/no%00list")

    assert "news</bdi>" in lists
    assert "$.attributes.plan == &#34;pro&#34;" in lists
    assert "<dt>Members</dt><dd>2</dd>" in news
    assert "<dt>Suppressed</dt><dd>1</dd>" in news
    assert "<dt>Members</dt><dd>1</dd>" in pros
    assert "ben@example.com" not in pros
    assert f"{NEWS}/import" in news
    assert "lists/pros/import" not in pros, "a condition says who its members are"
    assert missing.status_code == 404


async def test_a_file_is_checked_imported_into_a_list_and_its_bad_lines_are_named(
    console: Visiting, visitor: Visitor, database: DatabaseSettings
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        news = await people.list_of(conn, project)
        checked = await visitor.upload(f"{NEWS}/import", FILE, checks="on", name="<all>.csv")
        before = await people.members(conn, project, news)
        begun = await visitor.upload(f"{NEWS}/import", FILE, name="<all>.csv")
        path = begun.headers["location"]
        waiting = (await visitor.get(path)).text
        await import_steps.worked(database)
        done = (await visitor.get(path)).text
        listed = (await visitor.get(f"{PROJECT}/imports")).text
        after = await people.members(conn, project, news)
        audited = await make.rows(
            conn,
            "SELECT actor LIKE '%%ann (console)%%', detail #>> '{options,list}'"
            " FROM mailqueue.audit_events WHERE action = 'import.begun' ORDER BY id",
        )
        query = "SELECT attributes ->> 'plan' FROM mailqueue.contacts WHERE email LIKE 'ann%%'"
        plan = await make.scalar(conn, query)

    assert "2 contacts would be added" in checked.text
    assert "&lt;all&gt;.csv" in checked.text
    assert before == []
    assert 'hx-trigger="every 2s"' in waiting
    assert "0 lines read so far" in waiting
    assert "every 2s" not in done, "it is over"
    assert "3 lines read" in done
    assert "2 added" in done
    assert "<b>Line 3</b> <bdi>email</bdi>:" in done
    assert "<b>nobody" not in done
    assert "&lt;all&gt;.csv" in listed
    assert sorted(after) == ["ann@example.com", "ben@example.com"]
    assert audited == [(True, "news")]
    assert plan == "pro"


async def test_a_form_without_a_file_or_with_none_that_can_be_read_changes_nothing(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        await people.list_of(conn, await make.project_named(conn))
    zipped = await visitor.upload(f"{NEWS}/import", b"PK\x03\x04" + b"\0" * 1_000)
    fields = await visitor.form(f"{NEWS}/import", f"{NEWS}/import")
    none = await visitor.post(f"{NEWS}/import", fields)
    async with console.connection() as conn:
        contacts = await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts")

    assert (zipped.status_code, none.status_code) == (422, 422)
    assert "Choose a file" in none.text
    assert contacts == 0


async def test_an_import_is_cancelled_on_a_page_that_says_what_stays(
    visitor: Visitor,
) -> None:
    begun = await visitor.upload(f"{PROJECT}/contacts/import", FILE, name="persons.csv")
    path = begun.headers["location"]
    asked = (await visitor.get(f"{path}/cancel")).text
    done = await visitor.submit(f"{path}/cancel", f"{path}/cancel")
    again = await visitor.submit(f"{path}/cancel", f"{path}/cancel")
    shown = (await visitor.get(path)).text

    assert "contacts of persons.csv" in asked
    assert f"0 lines of at most {len(FILE.splitlines())}" in asked
    assert done.headers["location"] == path
    assert "The import has ended: it is cancelled" in again.text
    assert "What was taken before stays." in shown
    assert "every 2s" not in shown
    assert f"{path}/cancel" not in shown
