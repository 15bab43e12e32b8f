"""Contacts are checked when they are written, and what is pending ends with them."""

import asyncio
from uuid import UUID, uuid4

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts import people

pytestmark = pytest.mark.anyio

DEEP: dict[str, object] = {}
for _ in range(120):
    DEEP = {"a": DEEP}


async def test_a_contact_is_added_changed_and_found_in_every_spelling(conn: Conn) -> None:
    project = await make.project_named(conn)
    first = await people.put(
        conn,
        project,
        " Ann.Lee@Example.com ",
        first_name="Ann",
        time_zone="Europe/Berlin",
        date_of_birth="1990-02-28",
        attributes={"plan": "pro", "seats": 3, "old": 1},
        consent_source="https://shop.example.com/join",
        consent_wording="Send me the news.",
    )
    assert first is not None
    assert (first["email"], first["email_key"]) == ("Ann.Lee@Example.com", "ann.lee@example.com")
    assert first["consented_at"] is not None

    assert await people.put(conn, project, "ann.lee@EXAMPLE.com", must_be_new=True) is None
    changed = await people.put(
        conn, project, "ann.lee@example.com", attributes={"plan": "free", "old": None}
    )
    assert changed is not None
    assert changed["id"] == first["id"]
    assert changed["attributes"] == {"plan": "free", "seats": 3}
    assert (changed["first_name"], changed["date_of_birth"]) == ("Ann", "1990-02-28")

    by_id = await people.put(
        conn, project, None, id_=UUID(first["id"]), first_name=None, attributes=None
    )
    assert by_id is not None
    assert (by_id["first_name"], by_id["attributes"]) == (None, {})
    assert await people.put(conn, project, None, id_=uuid4(), first_name="Bob") is None
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts") == 1


async def test_one_address_may_be_a_contact_of_several_projects(conn: Conn) -> None:
    for project in [await make.project(conn), await make.project(conn)]:
        await people.added(conn, project, "ann@example.com")

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts") == 2


async def test_an_address_of_another_contact_is_refused(conn: Conn) -> None:
    project = await make.project_named(conn)
    ann, _ = await people.added(conn, project, "ann@example.com", "bob@example.com")

    with pytest.raises(errors.InvalidParameterValue, match="email: another contact has"):
        await people.put(conn, project, "BOB@example.com", id_=ann)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("email", "ann", "is not an address"),
        ("email", None, "an address is needed"),
        ("email", "erased@erased.invalid", "stands for persons"),
        ("first_name", "A" * 101, "at most 100 characters, got 101"),
        ("first_name", "", "must not be empty"),
        ("last_name", "Lee\nBcc: x", "control characters"),
        ("last_name", "\u202eeeL", "direction of text"),
        ("last_name", 7, "a string is needed"),
        ("time_zone", "Mars/Olympus", "there is no time zone"),
        ("time_zone", "CET-5", "a name such as Europe/Berlin is needed"),
        ("date_of_birth", "2999-01-01", "a day in the past since 1850 is needed"),
        ("date_of_birth", "1849-12-31", "a day in the past since 1850 is needed"),
        ("date_of_birth", "2026-02-30", "is not a date such as"),
        ("date_of_birth", "tomorrow", "is not a date such as"),
        ("date_of_birth", "infinity", "is not a date such as"),
        ("language", "english!", "is not a language such as"),
        ("attributes", [1], "an object of names and values is needed, got array"),
        ("attributes", {"a": "x" * (1 << 20)}, "at most 16 KiB"),
        ("attributes", {str(n): n for n in range(101)}, "at most 100 attributes"),
        ("attributes", DEEP, "at most 100 nested levels"),
        ("consented_at", "2999-01-01T00:00:00Z", "must not be in the future"),
        ("consented_at", "yesterday", "is not a time such as"),
        ("consent_wording", "x" * 2001, "at most 2000 characters"),
        ("age", "7", "a contact has no such field"),
        ("id", str(UUID(int=1)), "a contact has no such field"),
    ],
    ids=[
        "address", "no-address", "placeholder", "long-name", "empty-name", "line", "direction",
        "number", "zone", "offset", "future", "ancient", "no-day", "word", "infinity", "language",
        "array", "megabyte", "many", "deep", "later", "word-of-time", "wording", "unknown", "id",
    ],
)  # fmt: skip
async def test_an_invalid_field_is_named(conn: Conn, field: str, value: object, why: str) -> None:
    project = await make.project_named(conn)

    with pytest.raises(errors.InvalidParameterValue, match=why) as info:
        await people.put(conn, project, **{field: value})  # type: ignore[arg-type]

    assert info.value.diag.column_name == field


async def test_another_project_is_refused(conn: Conn) -> None:
    project, other = await make.project_named(conn), await make.project(conn)
    [ann] = await people.added(conn, other, "ann@example.com")
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", (str(project),))

    assert await people.put(conn, project, None, id_=ann, first_name="Bob") is None
    removed = "SELECT mailqueue.remove_contact(%s, %s)"
    assert await make.scalar(conn, removed, project, ann) is None
    with pytest.raises(errors.InsufficientPrivilege):
        await people.put(conn, other)


async def test_removing_a_contact_ends_its_lists_and_its_unfinished_mail(conn: Conn) -> None:
    project = await make.project_named(conn)
    await make.sender_account(conn)
    ann, bob = await people.added(conn, project, "Ann@example.com", "bob@example.com")
    list_id = await people.list_of(conn, project, members=[ann, bob])
    now = await make.queued_email(conn, recipient_email="ann@EXAMPLE.com")
    later = await make.queued_email(conn, recipient_email="ann@example.com")
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() + interval '9 days' WHERE id = %s",
        (later,),
    )
    others = await make.queued_email(conn, recipient_email="bob@example.com")
    shared = await make.queued_email(conn, cc=["bob@example.com"])

    assert await make.scalar(conn, "SELECT mailqueue.remove_contact(%s, %s)", project, ann) == 2

    state = dict(await make.rows(conn, "SELECT id, status FROM mailqueue.emails"))
    assert (state[now], state[later]) == ("cancelled", "cancelled")
    assert (state[others], state[shared]) == ("pending", "pending")
    assert await people.members(conn, project, list_id) == ["bob@example.com"]
    assert await make.scalar(conn, "SELECT mailqueue.remove_contact(%s, %s)", project, ann) is None


async def test_of_two_that_add_one_address_together_one_adds_it(
    database: DatabaseSettings,
) -> None:
    async def add() -> bool:
        async with connect(database) as conn:
            project = await make.project_named(conn)
            return await people.put(conn, project, must_be_new=True) is not None

    assert sorted(await asyncio.gather(*(add() for _ in range(4)))) == [False] * 3 + [True]
