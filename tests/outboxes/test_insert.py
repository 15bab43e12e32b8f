"""INSERT and COPY into view outboxes: the writer's id is the id of the mail, and is taken once."""

from typing import Any
from uuid import uuid4

import pytest
from psycopg import DatabaseError, errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.claim.steps import claim, sent
from tests.outboxes.rows import EF_CORE, PLAIN, WRITTEN, ef_core_values

pytestmark = pytest.mark.anyio


async def test_the_insert_of_ef_core_is_a_mail_of_its_id(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    first, second = uuid4(), uuid4()

    numbers = [
        await make.scalar(conn, EF_CORE, *ef_core_values(email)) for email in (first, second)
    ]

    assert numbers[0] < numbers[1]
    read = "SELECT * FROM mailqueue.outboxes WHERE id = %s"
    row = (await make.rows(conn, read, first))[0]
    html = "<p>Thank you</p>"
    before = (first, "Ann", "ann@example.com", "Order 81", html, False, numbers[0], WRITTEN, None)
    assert row == (*before, "default", "pending", None, None)

    emails = await claim(conn, worker)
    assert {email.id for email in emails} == {first, second}
    await sent(conn, emails)

    row = (await make.rows(conn, read, first))[0]
    finished = await make.scalar(
        conn, "SELECT finished_at FROM mailqueue.emails WHERE id = %s", first
    )
    assert finished is not None
    assert row == (*before[:5], True, numbers[0], WRITTEN, finished, "default", "sent", None, None)
    seen = "SELECT count(*) FROM mailqueue.outboxes WHERE is_sent = false"
    assert await make.scalar(conn, seen) == 0


async def test_rows_of_one_insert_take_numbers_in_their_order(conn: Conn) -> None:
    ids = [uuid4() for _ in range(20)]
    values = ", ".join(["(%s, 'ann@example.com', 's', 'b')"] * len(ids))
    insert = f"INSERT INTO mailqueue.outboxes (id, to_email, subject, body) VALUES {values}"

    found = await make.rows(conn, f"{insert} RETURNING id, sequence_number", *ids)

    assert [row[0] for row in sorted(found, key=lambda row: row[1])] == ids
    ordered = "SELECT id FROM mailqueue.outboxes WHERE NOT is_sent ORDER BY sequence_number"
    assert [row[0] for row in await make.rows(conn, ordered)] == ids


async def test_copy_takes_its_columns_and_the_others_by_default(conn: Conn) -> None:
    email = uuid4()
    async with conn.cursor().copy(
        "COPY mailqueue.outboxes (id, to_email, subject, body) FROM STDIN"
    ) as copy:
        await copy.write_row((email, "ann@example.com", "Hello", "Hi"))

    [row] = await make.rows(conn, "SELECT * FROM mailqueue.outboxes")
    assert row[:6] == (email, "", "ann@example.com", "Hello", "Hi", False)
    assert row[9:11] == ("default", "pending")


@pytest.mark.parametrize(
    ("body", "is_html"),
    [
        ("<p>Hello</p>", True),
        ("<!DOCTYPE html>\n<html></html>", True),
        ("Hello<br/>Ann", True),
        ("<A HREF='https://example.com'>x</A>", True),
        ("Hello Ann <ann@example.com>, 1 < 2 and 3 > 2", False),
        ("see <https://example.com/a>", False),
        ("a <b", False),
        ("x" * 1_048_576, False),
    ],
    ids=["p", "doctype", "br", "upper", "address", "url", "open", "1MB"],
)
async def test_a_body_with_tags_is_html(conn: Conn, body: str, is_html: bool) -> None:
    await make.scalar(conn, EF_CORE, *ef_core_values(uuid4(), body=body))

    found = await make.rows(conn, "SELECT html_body, text_body FROM mailqueue.emails")

    assert found == [(body, None) if is_html else (None, body)]
    assert await make.scalar(conn, "SELECT body FROM mailqueue.outboxes") == body


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"to_email": None}, "to_email"),
        ({"to_email": ""}, "to_email"),
        ({"to_email": "no address"}, "to_email"),
        ({"to_email": "Ann <ann>"}, "to_email"),
        ({"to_name": "a\nb"}, "to_name"),
        ({"subject": None}, "subject"),
        ({"subject": ""}, "subject"),
        ({"subject": "s" * 999}, "subject"),
        ({"body": None}, "body"),
        ({"body": ""}, "body"),
        ({"body": "x" * 26_214_401}, "body"),
        ({"is_sent": True}, "is_sent"),
        ({"sent_at": WRITTEN}, "sent_at"),
        ({"created_at": "infinity"}, "created_at"),
        ({"custom_data": [1] * 40_000}, "custom_data"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_what_is_no_mail_is_refused_naming_the_column(
    conn: Conn, values: dict[str, Any], field: str
) -> None:
    row = {"to_email": "ann@example.com", "subject": "s", "body": "b", **values}
    if "custom_data" in row:
        row["custom_data"] = Jsonb(row["custom_data"])

    with pytest.raises(errors.InvalidParameterValue) as info:
        async with conn.transaction():
            await make.inserted(conn, "outboxes", row)

    assert (info.value.diag.message_primary or "").startswith(f"{field}: ")


@pytest.mark.parametrize("column", ["sequence_number", "status", "reason"])
async def test_columns_of_ours_are_not_inserted(conn: Conn, column: str) -> None:
    value = 7 if column == "sequence_number" else "sent"
    row = {"to_email": "ann@example.com", "subject": "s", "body": "b", column: value}
    with pytest.raises(errors.GeneratedAlways) as info:
        async with conn.transaction():
            await make.inserted(conn, "outboxes", row)
    assert info.value.diag.column_name == column


@pytest.mark.parametrize(
    ("values", "error"),
    [("'no-uuid', 's'", errors.InvalidTextRepresentation), ("7, 's'", errors.DatatypeMismatch)],
    ids=["text", "number"],
)
async def test_a_wrong_type_is_refused_as_by_a_table(
    conn: Conn, values: str, error: type[DatabaseError]
) -> None:
    with pytest.raises(error):
        async with conn.transaction():
            await conn.execute(
                f"INSERT INTO mailqueue.outboxes (id, subject) VALUES ({values})".encode()
            )


async def test_rows_are_not_changed_or_deleted(conn: Conn) -> None:
    await make.scalar(conn, PLAIN, uuid4())
    for statement in (
        b"UPDATE mailqueue.outboxes SET is_sent = true",
        b"DELETE FROM mailqueue.outboxes",
    ):
        with pytest.raises(errors.ObjectNotInPrerequisiteState):
            async with conn.transaction():
                await conn.execute(statement)


async def test_a_suppressed_recipient_finishes_the_row_at_once(conn: Conn) -> None:
    project = await make.project_named(conn)
    await conn.execute(
        b"INSERT INTO mailqueue.suppressions (project_id, address, category, reason, source)"
        b" VALUES (%s, 'ann@example.com', '', 'manual', 'test')",
        [project],
    )

    [row] = await make.rows(
        conn,
        "INSERT INTO mailqueue.outboxes (to_email, subject, body)"
        " VALUES ('ann@example.com', 's', 'b') RETURNING id, status, is_sent",
    )

    assert row[1:] == ("suppressed", False)
    kept = "SELECT status, is_sent, sent_at FROM mailqueue.outboxes"
    assert await make.rows(conn, kept) == [("suppressed", False, None)]
