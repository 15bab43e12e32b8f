"""Contacts in the console: added, changed and removed."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from typing import Any
from uuid import UUID

import pytest

from mailqueue.contacts import contacts
from mailqueue.contract.contacts import Contact
from mailqueue.db.fetch import Conn
from mailqueue.timed_events import events
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.contacts import people
from tests.rows import each_row
from tests.sequences import running

pytestmark = pytest.mark.anyio

CONTACTS = "/console/projects/default/contacts"
NEW = f"{CONTACTS}/new"
HOSTILE = '<script>alert("1")</script>'


class _Fields(HTMLParser):
    """Collects what a browser would send of the fields of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "input" and name:
            self.values[name] = given.get("value") or ""
        self._area = name if tag == "textarea" else ""
        if self._area:
            self.values[name] = ""

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            begun = data.removeprefix("\n") if not self.values[self._area] else data
            self.values[self._area] += begun.replace("\n", "\r\n")


async def opened(visitor: Visitor, path: str) -> dict[str, str]:
    """Return the fields of a form as a browser would send them unchanged."""
    response = await visitor.get(path)
    assert response.status_code == 200, response.text
    found = _Fields()
    found.feed(response.text)
    return {name: value for name, value in found.values.items() if name != "q"} | {
        "token": (await visitor.form(path, path))["token"]
    }


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def contact_of(conn: Conn, contact_id: object) -> Contact:
    """Return a contact of the default project."""
    return await contacts.find(conn, await make.project_named(conn), str(contact_id))


async def audited(conn: Conn, contact_id: object) -> list[Any]:
    """Return the acts on a contact in the audit log."""
    query = "SELECT action FROM mailqueue.audit_events WHERE subject = %s ORDER BY id"
    return [row[0] for row in await make.rows(conn, query, f"contact {contact_id}")]


async def rich(conn: Conn) -> UUID:
    """Add a contact that has every field."""
    found = await people.put(
        conn,
        await make.project_named(conn),
        first_name=HOSTILE,
        last_name="Lee",
        language="de",
        time_zone="Europe/Berlin",
        date_of_birth="1990-05-31",
        consented_at="2020-05-01T10:00:00.123456Z",
        consent_source="form",
        consent_wording=f"Yes, please {HOSTILE}",
        attributes={"plan": "pro", "a=b": [1, HOSTILE], "large": 2**60, "number": "1"},
    )
    assert found is not None
    return UUID(found["id"])


async def test_a_contact_is_added_once_with_all_its_fields(
    console: Visiting, visitor: Visitor
) -> None:
    assert f'href="{NEW}"' in (await visitor.get(CONTACTS)).text
    fields = await opened(visitor, NEW) | {
        "email": " Ann@example.com ",
        "first_name": HOSTILE,
        "language": "de",
        "time_zone": "Europe/Berlin",
        "date_of_birth": "1990-05-31",
        "attributes": 'plan = pro\r\nage = 36\r\n"a=b" = ["x"]',
        "consent_source": "by telephone",
    }
    done = await visitor.post(NEW, fields)
    again = await visitor.post(NEW, fields)
    path = done.headers["location"].removesuffix("?done=added")
    shown = (await visitor.get(f"{path}?done=added")).text
    async with console.connection() as conn:
        found = await contact_of(conn, "ann@example.com")
        acts = await audited(conn, found.id)

    assert done.status_code == 303
    assert again.headers["location"] == f"{CONTACTS}?done=before"
    assert path == f"{CONTACTS}/{found.id}"
    assert (found.email, found.first_name) == ("Ann@example.com", HOSTILE)
    assert found.date_of_birth == date(1990, 5, 31)
    assert found.attributes == {"plan": "pro", "age": 36, "a=b": ["x"]}
    assert found.consent_source == "by telephone"
    assert found.consented_at is not None
    assert "The contact was added." in shown
    assert HOSTILE not in shown
    assert acts == ["contact.added"]


@pytest.fixture
async def ben(console: Visiting) -> None:
    """Another contact."""
    async with console.connection() as conn:
        await people.added(conn, await make.project_named(conn), "ben@example.com")


@each_row(
    "fields, field",
    [
        ({"email": "nobody"}, "email"),
        ({"email": ""}, "email"),
        ({"email": "ben@example.com"}, "email"),
        ({"time_zone": "Mars/Base"}, "time_zone"),
        ({"language": "<b>"}, "language"),
        ({"date_of_birth": "2030-02-30"}, "date_of_birth"),
        ({"first_name": "x" * 101}, "first_name"),
        ({"attributes": "plan"}, "attributes"),
        ({"attributes": 'plan = "\\u0000"'}, "attributes"),
        ({"attributes": "plan = " + "x" * 20_000}, "attributes"),
        ({"consented_at": "tomorrow"}, "consented_at"),
    ],
)
@pytest.mark.usefixtures("ben")
async def test_a_wrong_value_stands_at_its_field_with_what_was_typed(
    console: Visiting, visitor: Visitor, fields: dict[str, str], field: str
) -> None:
    typed = {"email": "ann@example.com", "last_name": HOSTILE} | fields
    response = await visitor.submit(NEW, NEW, **typed)
    async with console.connection() as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts")

    assert response.status_code == 422
    assert f'id="fault-{field}"' in response.text
    assert 'value="&lt;script&gt;' in response.text
    assert count == 1


async def test_a_form_that_is_sent_as_it_was_shown_changes_nothing(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        contact = await rich(conn)
        before = await contact_of(conn, contact)
        path = f"{CONTACTS}/{contact}/change"
        response = await visitor.post(path, await opened(visitor, path))
        after = await contact_of(conn, contact)

    assert response.status_code == 303, response.text
    assert after == before


async def test_fields_are_changed_and_emptied_ones_removed(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        contact = await rich(conn)
        path = f"{CONTACTS}/{contact}/change"
        fields = await opened(visitor, path) | {
            "email": "lee@example.com",
            "last_name": "",
            "date_of_birth": "",
            "attributes": "plan = free\r\nlarge = 1152921504606846976",
        }
        response = await visitor.post(path, fields)
        found, acts = await contact_of(conn, contact), await audited(conn, contact)

    assert response.headers["location"] == f"{CONTACTS}/{contact}?done=changed"
    assert (found.email, found.first_name, found.last_name) == ("lee@example.com", HOSTILE, None)
    assert found.date_of_birth is None
    assert found.attributes == {"plan": "free", "large": 2**60}
    assert found.consent_source == "form"
    assert acts == ["contact.changed"]


async def test_a_form_that_another_change_made_old_is_refused(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        contact = await rich(conn)
        path = f"{CONTACTS}/{contact}/change"
        fields = await opened(visitor, path) | {"first_name": "Old"}
        await people.put(conn, await make.project_named(conn), first_name="New")
        refused = await visitor.post(path, fields)
        found = await contact_of(conn, contact)
        opened_again = await visitor.post(path, await opened(visitor, path) | {"first_name": "Old"})

    assert refused.status_code == 422
    assert "was changed meanwhile" in refused.text
    assert found.first_name == "New"
    assert opened_again.status_code == 303


async def test_a_contact_is_removed_with_what_the_page_says_ends(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await running.project_with_template(conn)
        (contact,) = await people.added(conn, project, "ann@example.com")
        await people.list_of(conn, project, members=[contact])
        await running.sequence(conn, project)
        await running.enroll(conn, project, contact)
        for _ in range(2):
            await make.queued_email(conn, project_id=project, recipient_email="ann@example.com")
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
        path = f"{CONTACTS}/{contact}"
        asked = unescape((await visitor.get(f"{path}/remove")).text)
        fields = await visitor.form(f"{path}/remove", f"{path}/remove")
        done = await visitor.post(f"{path}/remove", fields)
        shown = (await visitor.get(done.headers["location"])).text
        gone = await visitor.get(path)
        acts = await audited(conn, contact)
        left = await make.scalar(
            conn,
            "SELECT (SELECT count(*) FROM mailqueue.sequence_enrollments)"
            " + (SELECT count(*) FROM mailqueue.timed_events)"
            " + (SELECT count(*) FROM mailqueue.contact_list_members)",
        )

    assert "It leaves 1 list." in asked
    assert "1 enrollment in sequences, 1 timed event, and 2 emails that wait" in asked
    assert "The contact was removed, and 2 emails cancelled." in shown
    assert gone.status_code == 404
    assert acts == ["contact.removed"]
    assert left == 0
