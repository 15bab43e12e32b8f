"""Extreme timestamps and JSON are refused by every interface, naming the field.

A reader outside of PostgreSQL has no word for infinity, and none reads JSON of any depth.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from psycopg import errors

from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import MAX_LEVELS, unstorable
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.acceptance import accept, accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from tests import make
from tests.api.support.calling import HELLO, calling
from tests.templates.making import published

pytestmark = pytest.mark.anyio

BEYOND = (
    "infinity",
    "294276-12-31 23:59:59+00",
    "10000-01-01 00:00+00",
    "9999-12-31T23:59:59-12:00",
    "2999-01-01 00:00+00",
)
PAST = ("-infinity", "4713-01-01 00:00:00+00 BC", "0001-01-01T00:00:00+14:00")


def lists(depth: int, within: str = "") -> str:
    return "[" * depth + within + "]" * depth


UNREADABLE = {
    "a level too many": lists(MAX_LEVELS + 1, "1"),
    "objects": '{"a":' * 1_100 + "1" + "}" * 1_100,
    "lists": lists(6_000),
    "1 MB, deep": lists(6_000, json.dumps("x" * 1_000_000)),
    "nines": '{"a":' + "9" * 5_000 + "}",
    "beyond a double": '{"a": [1, {"b": -1e309}]}',
    "exponent": '{"a": 1e60000}',
    "many long numbers": "[" + ",".join(["1e131071"] * 7_000) + "]",
    "large": json.dumps(["x" * 100] * 1_000),
}
READABLE = {
    "all levels": lists(MAX_LEVELS, "1"),
    "largest": '{"a": 1.7976931348623157e308, "b": -1.7976931348623157e308, "c": 1e-400}',
    "large integer": '{"a": 18446744073709551615}',
    "words": '{"deep": "[[[[", "a": null, "b": [true, "9e999"]}',
}
Road = Callable[[Conn, str, str], Awaitable[str | None]]
"""Returns why a mail with this option, as JSON, was refused; None if it was accepted."""


async def by_insert(conn: Conn, name: str, document: str) -> str | None:
    value = json.loads(document) if name.endswith("_at") else document
    return await _refusal(
        conn,
        f"INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, {name})"
        " VALUES ('ann@example.com', 's', 't', %s)",
        value,
    )


async def by_copy(conn: Conn, name: str, document: str) -> str | None:
    value = json.loads(document) if name.endswith("_at") else document
    try:
        async with conn.transaction(), conn.cursor() as cursor:
            columns = f"recipient_email, subject, text_body, {name}"
            async with cursor.copy(f"COPY mailqueue.email_queue ({columns}) FROM STDIN") as copy:
                await copy.write_row(("ann@example.com", "s", "t", value))
    except errors.InvalidParameterValue as exc:
        return exc.diag.message_primary
    return None


async def by_enqueue(conn: Conn, name: str, document: str) -> str | None:
    return await _refusal(
        conn,
        "SELECT mailqueue.enqueue(recipient => 'ann@example.com', subject => 's', text => 't',"
        " options => %s::jsonb)",
        f'{{"{name}": {document}}}',
    )


async def by_batch(conn: Conn, name: str, document: str) -> str | None:
    message = (
        f'{{"recipient": "ann@example.com", "subject": "s", "text": "t", "{name}": {document}}}'
    )
    [(status, reason)] = await make.rows(
        conn, "SELECT status, reason FROM mailqueue.enqueue_batch('default', %s)", f"[{message}]"
    )
    assert (status == "queued") == (reason is None)
    return str(reason) if reason else None


async def by_contact(conn: Conn, name: str, document: str) -> str | None:
    own = f', "{name}": {document}' if name == "custom_data" else ""
    shared = "" if own else f'"{name}": {document}'
    try:
        async with conn.transaction():
            [(_, reason)] = await make.rows(
                conn,
                "SELECT status, reason"
                " FROM mailqueue.enqueue_shared('default', %s, %s, %s, false, 'x')",
                '[{"subject": "s", "text": "t"}]',
                f"{{{shared}}}",
                f'[{{"recipient": "ann@example.com"{own}}}]',
            )
    except errors.InvalidParameterValue as exc:
        return exc.diag.message_primary
    return str(reason) if reason else None


async def _refusal(conn: Conn, statement: str, *params: object) -> str | None:
    try:
        async with conn.transaction():
            await conn.execute(statement.encode(), params)
    except errors.InvalidParameterValue as exc:
        return f"{exc.diag.column_name}: " + (exc.diag.message_primary or "").partition(": ")[2]
    return None


ROADS: dict[str, Road] = {
    "insert": by_insert,
    "copy": by_copy,
    "enqueue": by_enqueue,
    "batch": by_batch,
    "contact": by_contact,
}


@pytest.mark.parametrize("road", ROADS)
async def test_an_instant_beyond_ten_years_is_refused(conn: Conn, road: str) -> None:
    for field in ("run_at", "expires_at"):
        for instant in BEYOND:
            why = await ROADS[road](conn, field, json.dumps(instant))
            assert (why or "").startswith(f"{field}: within ten years, got "), instant
    for instant in PAST:
        why = await ROADS[road](conn, "expires_at", json.dumps(instant))
        assert (why or "").startswith("expires_at: must be after run_at and now"), why
        assert await ROADS[road](conn, "run_at", json.dumps(instant)) is None

    query = "SELECT count(*) FROM mailqueue.email_queue WHERE NOT isfinite(run_at)"
    assert await make.scalar(conn, query) == 0


@pytest.mark.parametrize("road", ROADS)
async def test_json_that_programs_cannot_read_is_refused(conn: Conn, road: str) -> None:
    for name, document in UNREADABLE.items():
        why = await ROADS[road](conn, "custom_data", document)
        assert (why or "").startswith("custom_data: "), f"{name}: {why}"
    for name, document in READABLE.items():
        assert await ROADS[road](conn, "custom_data", document) is None, name


async def test_what_is_accepted_can_be_read(conn: Conn) -> None:
    for document in READABLE.values():
        assert await by_insert(conn, "custom_data", document) is None

    found = await make.rows(conn, "SELECT custom_data FROM mailqueue.email_queue ORDER BY id")

    assert [one for (one,) in found] == [json.loads(document) for document in READABLE.values()]


async def test_variables_are_held_to_the_same(conn: Conn) -> None:
    await published(conn, await make.project_named(conn))
    for name, document in UNREADABLE.items():
        options = f'{{"template": "welcome", "variables": {{"name": "x", "more": {document}}}}}'
        query = "SELECT mailqueue.enqueue(recipient => 'ann@example.com', options => %s::jsonb)"
        why = await _refusal(conn, query, options)
        assert (why or "").startswith("variables: "), f"{name}: {why}"


async def test_python_refuses_before_it_asks_the_database(conn: Conn) -> None:
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    for value in (deep, {"a": float("nan")}, {"a": [float("inf")]}, {"a": 2**64}, {"a": -(2**70)}):
        email = NewEmail("ann@example.com", "s", text="t", options={"custom_data": value})
        with pytest.raises(InvalidField, match=r"^custom_data: "):
            await accept_one(conn, email, project="default")
        (result,) = await accept(conn, [email], project="default")
        assert isinstance(result, InvalidField)
        assert result.field == "custom_data"


def test_python_and_sql_draw_the_line_at_the_same_level() -> None:
    for document in READABLE.values():
        assert unstorable("", {"custom_data": json.loads(document)}) is None
    fault = unstorable("", {"custom_data": json.loads(UNREADABLE["a level too many"])})
    assert str(fault) == "custom_data: at most 100 nested levels"


async def test_a_pause_a_key_and_an_administrator_end_within_ten_years(conn: Conn) -> None:
    project = await make.project_named(conn)
    await make.sender_account(conn)
    for instant in BEYOND:
        for statement, field in (
            (f"SELECT mailqueue.pause_sending('campaign', 'default', 'x', '{instant}')", "until"),
            (f"SELECT mailqueue.pause_sending('project', 'default', NULL, '{instant}')", "until"),
            (f"UPDATE mailqueue.sender_accounts SET status_until = '{instant}'", "until"),
            (
                f"SELECT mailqueue.issue_api_key('{project}', 'k', '\\x00', 'h', false,"
                f" '{{email:send}}', '{instant}', NULL)",
                "expires_at",
            ),
            (f"SELECT mailqueue.add_administrator('a', '\\x00', 'h', '{instant}')", "expires_at"),
            (
                f"SELECT * FROM mailqueue.reschedule_email('{project}', mailqueue.uuidv7(),"
                f" '{instant}', 'x')",
                "run_at",
            ),
            (
                f"SELECT * FROM mailqueue.change_subscriptions('{project}', '{{a@example.com}}',"
                f' \'[{{"category": "news", "state": "paused", "until": "{instant}"}}]\','
                " 'x', NULL, NULL, NULL, 'x')",
                "until",
            ),
        ):
            why = await _refusal(conn, statement.replace("%", "%%"))
            assert (why or "").startswith(f"{field}: within ten years"), statement


async def test_http_names_the_field(database: object) -> None:
    whole = json.dumps(HELLO)[:-1]
    async with calling(database) as api:  # type: ignore[arg-type]
        for field, document in (
            ("expires_at", '"9999-12-31T23:59:59-12:00"'),
            ("scheduled_at", '"9999-12-31T23:59:59-12:00"'),
            ("custom_data", f'{{"a": {lists(MAX_LEVELS + 1)}1}}'.replace("]1", "]")),
            ("custom_data", '{"a": 1e400}'),
            ("custom_data", '{"a": ' + "9" * 500 + "}"),
        ):
            body = f'{whole}, "{field}": {document}}}'
            answer = await api.send(body.encode(), content_type="application/json")
            assert answer.status_code == 422, answer.text[:300]
            assert field.replace("scheduled_at", "") in answer.text
        soon = (datetime.now(UTC) + timedelta(days=3_000)).isoformat()
        body = f'{whole}, "expires_at": "{soon}"}}'
        answer = await api.send(body.encode(), content_type="application/json")
        assert answer.status_code == 202
