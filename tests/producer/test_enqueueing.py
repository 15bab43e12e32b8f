"""Mail is queued in the caller's own transaction, however the connection is configured."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import AsyncConnection, Connection
from psycopg.rows import class_row, dict_row, scalar_row
from psycopg.types.string import TextLoader

import mailqueue
from mailqueue import Attachment, Enqueued, InvalidField
from mailqueue.producer import enqueueing

pytestmark = pytest.mark.anyio
COUNT = "SELECT count(*) FROM mailqueue.email_queue"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


@pytest.fixture
def sync(shared_db: str) -> Iterator[Connection[Any]]:
    """A connection whose transaction is never committed."""
    with psycopg.connect(shared_db) as conn:
        yield conn
        conn.rollback()


@pytest.fixture
async def asynchronous(shared_db: str) -> AsyncIterator[AsyncConnection[Any]]:
    async with await AsyncConnection.connect(shared_db) as conn:
        yield conn
        await conn.rollback()


def content(conn: Connection[Any], email_id: UUID | None) -> tuple[Any, ...]:
    query = (
        "SELECT q.recipient_email, c.subject, c.text_body, c.html_body"
        " FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c ON c.id = q.content_id"
        " WHERE q.id = %s"
    )
    with psycopg.Cursor[tuple[Any, ...]](conn) as cursor:
        row = cursor.execute(query, [email_id]).fetchone()
    assert row is not None
    return row


def test_a_mail_is_queued_with_the_transaction_and_not_before(
    sync: Connection[Any], shared_db: str
) -> None:
    email_id = mailqueue.enqueue(sync, "ann@example.com", subject="Hi", text="Hello", html="<p>x")

    assert isinstance(email_id, UUID)
    assert content(sync, email_id) == ("ann@example.com", "Hi", "Hello", "<p>x")
    assert sync.info.transaction_status is psycopg.pq.TransactionStatus.INTRANS
    with psycopg.connect(shared_db) as other:
        assert other.execute(COUNT + " WHERE id = %s", [email_id]).fetchone() == (0,)
    sync.rollback()
    assert sync.execute(COUNT + " WHERE id = %s", [email_id]).fetchone() == (0,)


async def test_the_same_function_is_awaited_with_an_asynchronous_connection(
    asynchronous: AsyncConnection[Any],
) -> None:
    email_id = await mailqueue.enqueue(
        asynchronous, "Ann <ann@example.com>", subject="Hi", text="Hello"
    )
    (told,) = await mailqueue.enqueue_many(
        asynchronous, [{"to": "bob@example.com", "subject": "Hi", "text": "Hello"}]
    )

    assert isinstance(email_id, UUID)
    assert (told.status, isinstance(told.id, UUID)) == ("queued", True)
    assert asynchronous.info.transaction_status is psycopg.pq.TransactionStatus.INTRANS


def test_every_option_reaches_the_queue(sync: Connection[Any]) -> None:
    at = datetime(2030, 5, 1, 8, tzinfo=UTC)
    order = uuid4()

    email_id = mailqueue.enqueue(
        sync,
        ["ann@example.com", "bob@example.com"],
        cc="Cleo <cleo@example.com>",
        bcc=("dan@example.com",),
        subject="Hi",
        html="<img src='cid:logo'>",
        from_name="Shop",
        reply_to="help@example.com",
        headers={"X-Order": "81"},
        attachments=[Attachment("logo.png", PNG, content_id="logo")],
        tags=("a", "b"),
        category="news",
        campaign_id="spring",
        priority="high",
        run_at=at,
        expires_at=at + timedelta(days=1),
        delivery="hold",
        max_attempts=3,
        idempotency_key=f"k-{order}",
        custom_data={"order": order, "at": at, "lines": [1, 2.5, None, True]},
    )

    query = (
        "SELECT priority, run_at, category, campaign_id, tags, delivery, max_attempts, recipients,"
        " custom_data, c.from_name, c.reply_to, c.headers, c.files IS NOT NULL"
        " FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.email_contents AS c ON c.id = q.content_id WHERE q.id = %s"
    )
    row = sync.execute(query, [email_id]).fetchone()
    assert row == (
        1,
        at,
        "news",
        "spring",
        ["a", "b"],
        "hold",
        3,
        4,
        {"order": str(order), "at": at.isoformat(), "lines": [1, 2.5, None, True]},
        "Shop",
        "help@example.com",
        {"X-Order": "81"},
        True,
    )


@pytest.mark.parametrize(
    ("mail", "field"),
    [
        ({"to": "nobody", "subject": "x", "text": "x"}, "to"),
        ({"to": [], "subject": "x", "text": "x"}, "to"),
        ({"to": "a@example.com", "subject": "x"}, "html"),
        ({"to": "a@example.com", "text": "x"}, "subject"),
        ({"to": "a@example.com", "subject": "x\ny", "text": "x"}, "subject"),
        ({"to": "a@example.com", "subject": "x", "text": "\0"}, "text"),
        ({"to": "a@example.com", "subject": "x", "text": "\udc80"}, "text"),
        ({"to": "a@example.com", "subject": 5, "text": "x"}, "subject"),
        ({"to": "a@example.com", "subject": "x", "text": "x", "colour": "red"}, "colour"),
        ({"to": "a@example.com", "subject": "x", "text": "x", "cc": "nobody"}, "cc"),
        ({"to": "a@example.com", "subject": "x", "text": "x", "sender": "gone"}, "sender"),
        ({"to": "a@example.com", "template": "gone"}, "template"),
        (
            {"to": "a@example.com", "subject": "x", "text": "x", "run_at": datetime(2030, 1, 1)},  # noqa: DTZ001
            "run_at",
        ),
        (
            {"to": "a@example.com", "subject": "x", "text": "x", "custom_data": {"a": object()}},
            "custom_data",
        ),
        (
            {
                "to": "a@example.com",
                "subject": "x",
                "text": "x",
                "attachments": [Attachment("blob", b"x")],
            },
            "attachments",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refusal_names_the_field_as_programs_know_it(
    sync: Connection[Any], mail: dict[str, Any], field: str
) -> None:
    before = mailqueue.enqueue(sync, "ann@example.com", subject="Hi", text="Hello")
    with pytest.raises(InvalidField) as caught, sync.transaction():
        mailqueue.enqueue(sync, **mail)
    (told, good) = mailqueue.enqueue_many(
        sync,
        [mail, {"to": "bob@example.com", "subject": "Hi", "text": "Hello"}],  # type: ignore[list-item]
    )

    assert caught.value.field == field
    assert (told.id, told.status, told.field) == (None, "rejected", field)
    assert told.reason == str(caught.value)
    assert good.status == "queued"
    assert content(sync, before)[0] == "ann@example.com", "what was done before is still there"


def test_a_project_that_is_not_there_is_named(sync: Connection[Any]) -> None:
    for project in ("gone", "\0"):
        with pytest.raises(InvalidField, match=r"^project: "), sync.transaction():
            mailqueue.enqueue(sync, "a@example.com", project=project, subject="x", text="x")
        with pytest.raises(InvalidField, match=r"^project: "), sync.transaction():
            mailqueue.enqueue_many(
                sync, [{"to": "a@example.com", "subject": "x", "text": "x"}], project=project
            )


def test_another_fault_of_the_transaction_stays_what_it_is(sync: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        sync.execute("SELECT 1 / 0")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        mailqueue.enqueue(sync, "ann@example.com", subject="Hi", text="Hello")


class Upper(TextLoader):
    """Loads every text differently, as a program's own adapters may."""

    def load(self, data: Any) -> str:
        return bytes(data).decode().upper()


@pytest.mark.parametrize("factory", [dict_row, scalar_row, class_row(dict)])
def test_rows_and_cursors_of_the_caller_are_his_own(sync: Connection[Any], factory: Any) -> None:
    sync.row_factory = factory
    sync.cursor_factory = psycopg.RawCursor  # takes $1, and no names
    sync.adapters.register_loader("uuid", Upper)

    email_id = mailqueue.enqueue(sync, "ann@example.com", subject="Hi", text="Hello")
    (told,) = mailqueue.enqueue_many(
        sync, [{"to": "bob@example.com", "subject": "Hi", "text": "Hello"}]
    )

    assert isinstance(email_id, UUID)
    assert isinstance(told.id, UUID)
    assert sync.row_factory is factory


def test_pipeline_mode_takes_it_between_statements(sync: Connection[Any]) -> None:
    with sync.pipeline():
        before = sync.execute("SELECT 1")
        email_id = mailqueue.enqueue(sync, "ann@example.com", subject="Hi", text="Hello")
        after = sync.execute("SELECT 2")

    assert (before.fetchone(), after.fetchone()) == ((1,), (2,))
    assert content(sync, email_id)[0] == "ann@example.com"
    sync.rollback()
    with pytest.raises(InvalidField), sync.pipeline():
        mailqueue.enqueue(sync, "nobody", subject="Hi", text="Hello")


async def test_pipeline_mode_takes_it_asynchronously_too(
    asynchronous: AsyncConnection[Any],
) -> None:
    async with asynchronous.pipeline():
        await asynchronous.execute("SELECT 1")
        told = await mailqueue.enqueue_many(
            asynchronous, [{"to": "ann@example.com", "subject": "Hi", "text": "Hello"}] * 2
        )

    assert [one.status for one in told] == ["queued", "queued"]


def test_an_idempotency_key_gives_the_mail_of_before(sync: Connection[Any]) -> None:
    key = uuid4().hex
    first = mailqueue.enqueue(sync, "a@example.com", subject="x", text="x", idempotency_key=key)
    again = mailqueue.enqueue(sync, "a@example.com", subject="x", text="x", idempotency_key=key)
    (told,) = mailqueue.enqueue_many(
        sync, [{"to": "a@example.com", "subject": "x", "text": "x", "idempotency_key": key}]
    )

    assert again == first
    assert told == Enqueued(first, "duplicate")
    with pytest.raises(InvalidField, match=r"^idempotency_key: "):
        mailqueue.enqueue(sync, "a@example.com", subject="y", text="x", idempotency_key=key)


def test_more_than_a_statement_takes_is_told_in_order(sync: Connection[Any]) -> None:
    count = enqueueing.MAX_TOGETHER + 2
    mails: list[Any] = [
        {"to": f"p{n}@example.com", "subject": "Hi", "text": "Hello"} for n in range(count)
    ]
    mails[1] = {"to": "\0", "subject": "Hi", "text": "Hello"}
    mails[-2] = {"to": "nobody", "subject": "Hi", "text": "Hello"}

    told = mailqueue.enqueue_many(sync, mails)

    rejected = [n for n, one in enumerate(told) if one.status == "rejected"]
    assert (len(told), rejected) == (count, [1, count - 2])
    assert content(sync, told[-1].id)[0] == f"p{count - 1}@example.com"
    assert mailqueue.enqueue_many(sync, []) == []


def test_what_is_no_connection_of_psycopg_is_refused() -> None:
    with pytest.raises(TypeError, match=r"got builtins.str"):
        mailqueue.enqueue("postgresql://", "a@example.com", subject="x", text="x")  # type: ignore[call-overload]


@pytest.mark.deep
def test_importing_it_loads_nothing_heavy() -> None:
    program = (
        "import sys, mailqueue; print(*{each.partition('.')[0] for each in sys.modules});"
        "import mailqueue.client; print(*{each.partition('.')[0] for each in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    alone, client = (set(line.split()) for line in done.stdout.splitlines())

    assert not alone & {"psycopg", "httpx2", "pydantic", "starlette", "orjson", "asyncio"}
    assert not client & {"psycopg", "pydantic", "starlette", "structlog", "click"}
