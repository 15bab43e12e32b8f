"""Search of mail by custom data: filters as text, and which mail they find at what cost."""

import json
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads.custom_data import MAX_CHARACTERS, DataFilter, parse_filter
from tests import make
from tests.mail.claim.steps import claim, settle

pytestmark = pytest.mark.anyio
LIST = (
    "SELECT id FROM mailqueue.list_emails(%s" + ", NULL" * 10 + ", 50, NULL, %s::jsonb, %s::jsonb)"
)
COPIED = (
    "project_id, lane_id, status, priority, attempts, max_attempts, created_at, recipients,"
    " unknowns, delivery, category, expires_at, recipient_email, content_id, content_on"
)
VIEWED = """
    SELECT e.id FROM mailqueue.emails AS e WHERE mailqueue.is_searched(e.custom_data)
       AND mailqueue.searched_data(e.project_id, e.custom_data) @> '{"order": "done"}'
"""
READ = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer FROM pg_stat_xact_user_tables
    WHERE relname LIKE 'email_history%%' OR relname = 'email_queue'
"""


async def default(conn: Conn) -> UUID:
    found: UUID = await make.scalar(
        conn, "SELECT id FROM mailqueue.projects WHERE name = 'default'"
    )
    return found


async def found(conn: Conn, text: str, project: UUID | None = None) -> list[UUID]:
    project = project or await default(conn)
    return [row[0] for row in await make.rows(conn, LIST, project, *parse_filter(text))]


@pytest.mark.parametrize(
    ("text", "data", "or_data"),
    [
        ("order=A1", {"order": "A1"}, None),
        ("order=81", {"order": "81"}, {"order": 81}),
        ("is_new=true", {"is_new": "true"}, {"is_new": True}),
        ("a=b=c", {"a": "b=c"}, None),
        ("a=", {"a": ""}, None),
        ("a=null", {"a": "null"}, None),
        ("a=NaN", {"a": "NaN"}, None),
        ("a=1e999", {"a": "1e999"}, None),
        ('a={"b":1}', {"a": '{"b":1}'}, None),
        ("a=" + "9" * 1900, {"a": "9" * 1900}, None),
        ('{"a": {"b": [1]}}', {"a": {"b": [1]}}, None),
        ('{"a": null}', {"a": None}, None),
    ],
)
def test_a_filter_is_a_pair_or_an_object(text: str, data: object, or_data: object) -> None:
    parsed = parse_filter(text)

    assert json.loads(parsed.data) == data
    assert (parsed.or_data and json.loads(parsed.or_data)) == or_data


def test_a_number_keeps_its_digits() -> None:
    digits = "0.12345678901234567890123456789"

    assert parse_filter(f"a={digits}") == DataFilter(f'{{"a": "{digits}"}}', f'{{"a": {digits}}}')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "order",
        "=1",
        "{",
        "{}",
        '{"a": {"b": []}}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"a": "\\u0000"}',
        '{"a": %s}' % (10**20),
        "a\0b=1",
        "a=\ud800",
        '{"a":' * 300 + "1" + "}" * 300,
        "variables=1",
        "$project=1",
        '{"variables": {"name": "Ann"}}',
        "a=" + "x" * MAX_CHARACTERS,
    ],
)
def test_other_filters_are_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidField) as caught:
        parse_filter(text)

    assert caught.value.field == "custom_data"


async def test_mail_is_found_queued_and_finished(conn: Conn) -> None:
    worker = await make.worker(conn)
    await make.sender_account(conn)
    datas: list[Any] = [
        {"order": 81, "customer": {"id": "c-7"}, "tags": ["a", "b"]},
        {"order": "81", "variables": {"name": "Ann"}},
        {"order": 82},
        {"variables": {"name": "Ann", "order": 81}},
        "order",
        ["order", 81],
        [{"order": 81}],
        81,
        None,
    ]
    mails = [
        await make.queued_email(conn, custom_data=None if one is None else Jsonb(one))
        for one in datas
    ]
    number, text, *_ = mails

    for _ in ("queued", "finished"):
        assert await found(conn, "order=81") == [text, number]
        assert await found(conn, '{"order": 81}') == [number]
        assert await found(conn, '{"order": "81"}') == [text]
        assert await found(conn, '{"customer": {"id": "c-7"}}') == [number]
        assert await found(conn, '{"tags": ["b"], "order": 81}') == [number]
        assert await found(conn, "name=Ann") == []
        assert await found(conn, "order=83") == []
        await settle(conn, await claim(conn, worker))
    left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
    assert left == 0


async def test_mail_of_other_projects_is_not_found(conn: Conn) -> None:
    other = await make.project(conn, "other")
    await make.queued_email(conn, custom_data=Jsonb({"order": 81}))

    assert await found(conn, "order=81", other) == []
    assert len(await found(conn, "order=81")) == 1


@pytest.mark.parametrize(
    ("value", "is_found"),
    [("x" * 1970, True), ("x" * 2000, False), ("x" * 60_000, False)],
)
async def test_large_custom_data_is_taken_and_not_indexed(
    conn: Conn, value: str, is_found: bool
) -> None:
    """Whatever it holds, it adds a bounded number of entries to the index."""
    sized = await make.queued_email(conn, custom_data=Jsonb({"order": 81, "note": value}))
    many = Jsonb({f"k{number}": number for number in range(4000)})
    await make.queued_email(conn, custom_data=many)

    assert await found(conn, "order=81") == ([sized] if is_found else [])
    assert await found(conn, "k1=1") == []


async def test_a_search_reads_the_mail_it_finds_among_a_hundred_thousand(conn: Conn) -> None:
    worker = await make.worker(conn)
    await make.sender_account(conn)
    project = await default(conn)
    finished = await make.queued_email(conn, custom_data=Jsonb({"order": "done"}))
    await settle(conn, await claim(conn, worker))
    queued = await make.queued_email(conn, custom_data=Jsonb({"order": "open"}))
    for table, more in (("email_history", "finished_at"), ("email_queue", "run_at")):
        await conn.execute(
            (
                f"INSERT INTO mailqueue.{table} (id, {more}, is_test, custom_data, {COPIED}"
                + (", project)" if table == "email_queue" else ")")
                + f" SELECT mailqueue.uuidv7(), {more}, false, CASE WHEN n % 3 > 0"
                " THEN jsonb_build_object('order', n, 'shop', n % 5, 'note', 'n' || n) END,"
                f" {COPIED}"
                + (", NULL" if table == "email_queue" else "")
                + f" FROM mailqueue.{table}, generate_series(1, 100000) AS n"
            ).encode()
        )
        await conn.execute(f"ANALYZE mailqueue.{table}".encode())

    for text, wanted in (
        ("order=done", [finished]),
        ("order=open", [queued]),
        ("order=nothing", []),
        ('{"order": "open", "shop": 3}', []),
    ):
        before = await make.scalar(conn, READ)
        assert [
            row[0] for row in await make.rows(conn, LIST, project, *parse_filter(text))
        ] == wanted
        assert await make.scalar(conn, READ) - before < 100, text
    before = await make.scalar(conn, READ)
    assert set(await make.rows(conn, VIEWED)) == {(finished,)}
    assert await make.scalar(conn, READ) - before < 100
    # One of a value that many have reads these, and none of another project.
    matching = 2 * 100_000 * 2 // 3 // 5
    before = await make.scalar(conn, READ)
    assert len(await found(conn, "shop=3")) == 50
    assert await make.scalar(conn, READ) - before < matching + 1000
    other = await make.project(conn, "other")
    for table in ("email_history", "email_queue"):
        moved = f"UPDATE mailqueue.{table} SET project_id = %s WHERE custom_data ->> 'shop' = '3'"
        await conn.execute(moved.encode(), (other,))
    before = await make.scalar(conn, READ)
    assert await found(conn, "shop=3") == []
    assert await make.scalar(conn, READ) - before < 100
