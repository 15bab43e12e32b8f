"""Lists of contacts, by members and by condition, are read in chunks."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people

pytestmark = pytest.mark.anyio

EMAILS = [f"person{n}@example.com" for n in range(7)]


async def change(conn: Conn, project: UUID, name: str = "news", **given: object) -> int:
    return len(
        await make.rows(
            conn,
            "SELECT FROM mailqueue.put_contact_list(%s, %s, %s, false, 'tests')",
            project,
            name,
            Jsonb(given),
        )
    )


async def test_members_are_read_in_chunks_once_each(conn: Conn) -> None:
    project = await make.project_named(conn)
    ids = await people.added(conn, project, *EMAILS)
    list_id = await people.list_of(conn, project, members=ids[:5])

    again = "SELECT mailqueue.add_list_members(%s, 'news', %s)"
    assert await make.scalar(conn, again, project, [ids[0], ids[5], ids[5]]) == 1
    assert await people.members(conn, project, list_id, chunk=2) == EMAILS[:6]

    gone = "SELECT mailqueue.remove_list_members(%s, 'news', %s)"
    assert await make.scalar(conn, gone, project, [ids[1], ids[6]]) == 1
    assert await people.members(conn, project, list_id) == [EMAILS[0], *EMAILS[2:6]]


async def test_a_condition_says_who_is_in_a_list(conn: Conn) -> None:
    project = await make.project_named(conn)
    await people.added(conn, project, *EMAILS[:3], attributes={"plan": "pro"}, language="de")
    await people.added(conn, project, *EMAILS[3:5], attributes={"plan": "free"})
    await people.added(conn, project, *EMAILS[5:], attributes={"plan": "pro"}, language="en")
    elsewhere = await make.project(conn)
    await people.added(conn, elsewhere, "ann@example.com", attributes={"plan": "pro"})
    list_id = await people.list_of(conn, project, condition='$.attributes.plan == "pro"')

    assert await people.members(conn, project, list_id, chunk=2) == EMAILS[:3] + EMAILS[5:]
    await change(conn, project, condition='$.attributes.plan == "pro" && $.language == "en"')
    assert await people.members(conn, project, list_id) == EMAILS[5:]


async def test_a_list_is_of_members_or_of_a_condition(conn: Conn) -> None:
    project = await make.project_named(conn)
    [ann] = await people.added(conn, project, "ann@example.com")
    await people.list_of(conn, project, members=[ann])
    await people.list_of(conn, project, "pro", condition="$.attributes.pro == true")

    with pytest.raises(errors.InvalidParameterValue, match="condition: contacts were added"):
        async with conn.transaction():
            await change(conn, project, condition="$.language")
    with pytest.raises(errors.InvalidParameterValue, match="list: its condition says"):
        await make.scalar(conn, "SELECT mailqueue.add_list_members(%s, 'pro', %s)", project, [ann])


@pytest.mark.parametrize(
    ("name", "given", "field"),
    [
        ("News", {}, "name"),
        ("ann@example.com", {}, "name"),
        ("news", {"condition": '$.email like_regex "(a+)+$"'}, "condition"),
        ("news", {"condition": "$.**"}, "condition"),
        ("news", {"description": "x" * 501}, "description"),
        ("news", {"description": 5}, "description"),
        ("news", {"color": "red"}, "color"),
    ],
    ids=["capital", "address", "regex", "descent", "long", "number", "unknown"],
)
async def test_an_invalid_list_is_refused(
    conn: Conn, name: str, given: dict[str, Any], field: str
) -> None:
    project = await make.project_named(conn)

    with pytest.raises(errors.InvalidParameterValue) as info:
        await people.list_of(conn, project, name, **given)

    assert info.value.diag.column_name == field


async def test_lists_and_contacts_of_other_projects_are_not_found(conn: Conn) -> None:
    project, other = await make.project_named(conn), await make.project(conn)
    [ann] = await people.added(conn, other, "ann@example.com")
    theirs = await people.list_of(conn, other, members=[ann])
    await people.list_of(conn, project)

    assert await people.members(conn, project, theirs) == []
    assert await change(conn, project, "their-list", description="x") == 0
    add = "SELECT mailqueue.add_list_members(%s, %s, %s)"
    for contact in (ann, uuid4()):
        with pytest.raises(errors.InvalidParameterValue, match="contact_ids: there is no contact"):
            async with conn.transaction():
                await make.scalar(conn, add, project, "news", [contact])
    assert await make.scalar(conn, add, project, "gone", []) is None


async def test_a_list_is_audited_and_removed_without_its_contacts(conn: Conn) -> None:
    project = await make.project_named(conn)
    [ann] = await people.added(conn, project, "ann@example.com")
    await people.list_of(conn, project, members=[ann])
    await change(conn, project, description="The news")
    await change(conn, project, description="The news")
    remove = "SELECT mailqueue.remove_contact_list(%s, 'news', 'tests')"

    assert await make.scalar(conn, remove, project) is True
    assert await make.scalar(conn, remove, project) is False
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts") == 1
    actions = await make.rows(
        conn,
        "SELECT action FROM mailqueue.audit_events"
        " WHERE subject = 'contact list news' ORDER BY occurred_at, id",
    )
    assert [one for (one,) in actions] == [
        "contact_list.added",
        "contact_list.changed",
        "contact_list.removed",
    ]
