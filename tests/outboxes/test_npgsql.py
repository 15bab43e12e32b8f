"""INSERTs into view outboxes by the statements, types and batches of EF Core's provider.

The forms are those that the provider's own tests expect; EF Core itself is not run.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.conftest import Server
from tests.outboxes.npgsql import Answer, Parameter, Statement, insert, save_changes
from tests.rules.logins import login

pytestmark = pytest.mark.anyio

WRITTEN = datetime(2026, 5, 1, 8, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
async def owner(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as opened:
        yield opened


@pytest.fixture
async def program(owner: Conn, server: Server, fresh_db: str) -> AsyncIterator[Conn]:
    """A connection of a producer's own login."""
    url = server.superuser_url(urlsplit(fresh_db).path[1:])
    async with login(url, "mailqueue_producer") as opened:
        yield opened


def row(email: UUID | None = None, **changes: Parameter) -> dict[str, Parameter]:
    """Return the nine columns of the documents' entity without its identity column."""
    return {
        "id": ("uuid", email or uuid4()),
        "to_name": ("varchar", "Ann"),
        "to_email": ("varchar", "ann@example.com"),
        "subject": ("varchar", "Order 81"),
        "body": ("varchar", "<p>Thank you</p>"),
        "is_sent": ("bool", False),
        "created_at": ("timestamptz", WRITTEN),
        "sent_at": ("timestamptz", None),
        **changes,
    }


def inserts(ids: Sequence[UUID]) -> list[Statement]:
    return [insert(row(one), returning=["sequence_number"]) for one in ids]


async def stored(owner: Conn) -> list[tuple[object, ...]]:
    return await make.rows(
        owner,
        "SELECT id, to_name, to_email, subject, body, is_sent, created_at, sent_at"
        " FROM mailqueue.outboxes ORDER BY sequence_number",
    )


async def test_one_entity_is_one_insert_of_binary_values(owner: Conn, program: Conn) -> None:
    email = uuid4()

    [answer] = save_changes(program, [insert(row(email), returning=["sequence_number"])])

    number = await make.scalar(owner, "SELECT sequence_number FROM mailqueue.outboxes")
    assert answer == Answer(None, None, [(number,)], "INSERT 0 1")
    values = (email, "Ann", "ann@example.com", "Order 81", "<p>Thank you</p>", False, WRITTEN, None)
    assert await stored(owner) == [values]


async def test_several_entities_are_a_batch_of_inserts_in_their_order(
    owner: Conn, program: Conn
) -> None:
    ids = [uuid4() for _ in range(42)]

    answers = save_changes(
        program, [insert(row(one), returning=["sequence_number"]) for one in ids]
    )

    assert [answer.tag for answer in answers] == ["INSERT 0 1"] * len(ids)
    numbers = [answer.rows[0][0] for answer in answers]
    assert numbers == sorted(set(numbers))
    assert [found[0] for found in await stored(owner)] == ids


async def test_without_generated_columns_there_is_no_returning(owner: Conn, program: Conn) -> None:
    email = uuid4()

    [answer] = save_changes(program, [insert(row(email))])

    assert answer == Answer(None, None, [], "INSERT 0 1")
    assert [found[0] for found in await stored(owner)] == [email]


async def test_columns_with_a_default_are_left_out_and_returned(owner: Conn, program: Conn) -> None:
    given = row()
    for name in ("id", "is_sent", "created_at", "sent_at"):
        del given[name]
    returned = ["id", "created_at", "is_sent", "sent_at", "sequence_number"]

    [answer] = save_changes(program, [insert(given, returning=returned)])

    (email, created, is_sent, sent_at, number) = answer.rows[0]
    assert (is_sent, sent_at) == (False, None)
    found = "SELECT id, created_at, sequence_number FROM mailqueue.outboxes"
    assert await make.rows(owner, found) == [(email, created, number)]


async def test_further_columns_are_mapped_to_their_types(owner: Conn, program: Conn) -> None:
    more = row(project=("text", "default"), custom_data=("jsonb", '{"correlation_id": "order-81"}'))

    [answer] = save_changes(program, [insert(more, returning=["sequence_number"])])

    assert answer.sqlstate is None
    found = "SELECT project, custom_data FROM mailqueue.outboxes"
    assert await make.rows(owner, found) == [("default", {"correlation_id": "order-81"})]


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "middle", "last"])
async def test_an_error_in_a_batch_stores_none_of_it(
    owner: Conn, program: Conn, place: int
) -> None:
    taken = uuid4()
    save_changes(program, [insert(row(taken))])
    ids = [uuid4(), uuid4()]
    ids.insert(place, taken)

    answers = save_changes(
        program, [insert(row(one), returning=["sequence_number"]) for one in ids]
    )

    assert len(answers) == place + 1  # the others are not carried out
    assert answers[-1] == Answer("23505", "outboxes_pkey", [], "")
    assert [found[0] for found in await stored(owner)] == [taken]


async def test_a_skipped_row_has_no_row_and_the_batch_goes_on(owner: Conn, program: Conn) -> None:
    setting = '{"outbox_duplicates": "skip"}'
    await owner.execute(b"SELECT mailqueue.change_project('default', %s)", [setting])
    first, other = uuid4(), uuid4()
    save_changes(program, [insert(row(first))])

    answers = save_changes(program, inserts([first, other]))

    assert [(answer.tag, len(answer.rows)) for answer in answers] == [
        ("INSERT 0 0", 0),
        ("INSERT 0 1", 1),
    ]


async def test_the_batch_joins_the_transaction_of_the_program(owner: Conn, program: Conn) -> None:
    for end, count in (("ROLLBACK", 0), ("COMMIT", 2)):
        await program.execute(b"BEGIN")
        save_changes(program, [insert(row()), insert(row())])
        await program.execute(end.encode())
        assert len(await stored(owner)) == count


async def test_entities_are_read_by_their_key_and_in_their_order(
    owner: Conn, program: Conn
) -> None:
    ids = [uuid4() for _ in range(3)]
    save_changes(program, [insert(row(one)) for one in ids])
    shown = "o.id, o.created_at, o.is_sent, o.sequence_number"
    one = Statement(
        f"SELECT {shown} FROM mailqueue.outboxes AS o WHERE o.id = $1 LIMIT 2", [("uuid", ids[1])]
    )
    waiting = Statement(
        f"SELECT {shown} FROM mailqueue.outboxes AS o WHERE NOT (o.is_sent)"
        " ORDER BY o.sequence_number LIMIT $1",
        [("int8", 2)],
    )

    [by_key, in_order] = save_changes(program, [one, waiting])

    assert [found[:3] for found in by_key.rows] == [(ids[1], WRITTEN, False)]
    assert [found[0] for found in in_order.rows] == ids[:2]
    assert len(await stored(owner)) == 3
