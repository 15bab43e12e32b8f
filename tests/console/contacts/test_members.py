"""Contact lists in the console: added, changed, removed, and their members."""

import html
import re
from collections.abc import AsyncIterator

import pytest

from mailqueue.contacts import lists
from mailqueue.contract.contacts import OptIn
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.contacts import people
from tests.rows import each_row

pytestmark = pytest.mark.anyio

LISTS = "/console/projects/default/lists"
NEW = f"{LISTS}/~new"
NEWS = f"{LISTS}/news"
HOSTILE = '<script>alert("1")</script>'


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def test_a_list_is_added_once_changed_and_removed_and_its_contacts_stay(
    console: Visiting, visitor: Visitor
) -> None:
    assert f'href="{NEW}"' in (await visitor.get(LISTS)).text
    fields = await visitor.form(NEW, NEW) | {
        "name": "news",
        "description": HOSTILE,
        "opt_in": "recorded",
    }
    added, again = await visitor.post(NEW, fields), await visitor.post(NEW, fields)
    change = f"{NEWS}/change"
    form = (await visitor.get(change)).text
    changed = await visitor.submit(
        change, change, condition='$.attributes.plan == "pro"', opt_in="none"
    )
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await people.added(conn, project, "ann@example.com", attributes={"plan": "pro"})
        found = await lists.get(conn, project, "news")
        asked = (await visitor.get(f"{NEWS}/remove")).text
        removed = await visitor.submit(f"{NEWS}/remove", f"{NEWS}/remove")
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.contact_lists")
        contacts = await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts")
        audited = await make.rows(
            conn,
            "SELECT action FROM mailqueue.audit_events WHERE subject = 'contact list news'"
            " AND actor LIKE '%%ann (console)%%' ORDER BY id",
        )

    assert added.headers["location"] == f"{NEWS}?done=added"
    assert again.headers["location"] == f"{LISTS}?done=before"
    assert 'value="&lt;script&gt;' in form
    assert changed.headers["location"] == f"{NEWS}?done=changed"
    assert found.condition == '$.attributes.plan == "pro"'
    assert (found.description, found.opt_in) == (None, OptIn.NONE)
    assert "The list has 1 contact, which stay" in asked
    assert removed.headers["location"] == f"{LISTS}?done=removed"
    assert (left, contacts) == (0, 1)
    assert [row[0] for row in audited] == [
        "contact_list.added",
        "contact_list.changed",
        "contact_list.removed",
    ]


@pytest.fixture
async def list_there(console: Visiting) -> None:
    """The list `there`."""
    async with console.connection() as conn:
        await people.list_of(conn, await make.project_named(conn), "there")


@each_row(
    "fields, field",
    [
        ({"name": "No List"}, "name"),
        ({"name": "there"}, "name"),
        ({"name": ""}, "name"),
        ({"condition": HOSTILE}, "condition"),
        ({"opt_in": "always"}, "opt_in"),
        ({"description": "x" * 501}, "description"),
    ],
)
@pytest.mark.usefixtures("list_there")
async def test_a_wrong_value_of_a_list_stands_at_its_field(
    console: Visiting, visitor: Visitor, fields: dict[str, str], field: str
) -> None:
    response = await visitor.submit(NEW, NEW, **({"name": "news"} | fields))
    async with console.connection() as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.contact_lists")

    assert response.status_code == 422
    assert f'id="fault-{field}"' in response.text
    assert HOSTILE not in response.text
    assert count == 1


async def test_members_are_added_and_removed_by_address_and_an_unknown_one_is_named(
    console: Visiting, visitor: Visitor
) -> None:
    add, take = f"{NEWS}/add", f"{NEWS}/take-out"
    async with console.connection() as conn:
        project = await make.project_named(conn)
        news = await people.list_of(conn, project)
        (ann, _) = await people.added(conn, project, "ann@example.com", "ben@example.com")
        unknown = await visitor.submit(add, add, contacts="ann@example.com\r\n\r\nno@example.com")
        before = await people.members(conn, project, news)
        fields = await visitor.form(add, add) | {"contacts": "ANN@example.com\r\n ben@example.com"}
        added, again = await visitor.post(add, fields), await visitor.post(add, fields)
        members = await people.members(conn, project, news)
        shown = (await visitor.get(added.headers["location"])).text
        link = f"{take}?contacts=ann%40example.com"
        contact = (await visitor.get(f"/console/projects/default/contacts/{ann}")).text
        filled = (await visitor.get(link)).text
        removed = await visitor.submit(take, take, contacts="ann@example.com")
        left = await people.members(conn, project, news)
        await people.list_of(conn, project, "pros", condition="$.attributes.plan == 1")
        refused = await visitor.submit(
            f"{LISTS}/pros/add", f"{LISTS}/pros/add", contacts="ann@example.com"
        )

    assert unknown.status_code == 422
    assert "Line 3: there is no contact no@example.com" in unknown.text
    assert before == []
    assert sorted(members) == ["ann@example.com", "ben@example.com"]
    assert again.headers["location"] == f"{NEWS}?done=before"
    assert "2 members added." in shown
    assert f'href="{link}"' in contact
    assert "ann@example.com</textarea>" in filled
    assert removed.status_code == 303
    assert left == ["ben@example.com"]
    assert refused.status_code == 422
    assert 'id="fault-contacts"' in refused.text


async def test_a_list_shows_which_contacts_have_not_confirmed(
    console: Visiting, visitor: Visitor
) -> None:
    pending = f"{NEWS}?status=pending"
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await people.list_of(conn, project, opt_in="confirmed")
        before = (await visitor.get(pending)).text
        addresses = [f"p{number}@example.com" for number in range(51)]
        ids = await people.added(conn, project, *addresses)
        await make.scalar(conn, "SELECT mailqueue.add_list_members(%s, 'news', %s)", project, ids)
        await people.list_of(conn, project, "all")
        members, counted = [
            (await visitor.get(f"{NEWS}{query}")).text for query in ("", "?counts=on")
        ]
        shown = (await visitor.get(pending)).text
        (following,) = re.findall('href="([^"]+cursor=[^"]+)"', shown)
        last = (await visitor.get(html.unescape(following))).text
        without = (await visitor.get(f"{LISTS}/all")).text

    assert "No contact that was added has yet to confirm." in before
    assert "p0@example.com" not in members
    assert f'href="{pending}"' in members
    assert f'<a href="{pending}">51</a>' in counted
    assert [f">{each}<" in shown for each in addresses].count(True) == 50
    assert [f">{each}<" in last for each in addresses].count(True) == 1
    assert "status=pending" not in without


async def test_a_viewer_sees_no_buttons_of_contacts_and_lists(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as other:
        project = await make.project_named(conn)
        (ann,) = await people.added(conn, project, "ann@example.com")
        await people.list_of(conn, project, members=[ann])
        await console.add_user("vic", "viewer", "default")
        await other.log_in("vic")
        contacts = "/console/projects/default/contacts"
        shown = [
            (await other.get(each)).text for each in (LISTS, NEWS, contacts, f"{contacts}/{ann}")
        ]

    for page in shown:
        for part in ("~new", "/change", "/remove", "/add", "take-out", '/new"'):
            assert part not in page
