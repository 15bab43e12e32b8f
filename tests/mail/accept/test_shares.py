"""A message to many recipients is split: each recipient is in exactly one of its mails."""

from collections import Counter
from uuid import UUID

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.raw import RawEmail, accept_prepared, prepared
from mailqueue.mail.accept.shares import MAX_OF_MAIL, group_of, key_of_share, shares_of
from tests import make
from tests.mail.accept.messages import accept_raw, simple

COUNTS = [1, 2, 49, 50, 51, 99, 100, 101, 120, 999, 1000]


def people(count: int) -> list[str]:
    return [f"p{n}@example.com" for n in range(count)]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("named", [0, 1, 3, 60, 1000])
def test_each_recipient_is_in_exactly_one_share(count: int, named: int) -> None:
    everyone = people(count)
    to, cc, bcc = everyone[:named], everyone[named : 2 * named], everyone[2 * named :]

    shares = shares_of(to, cc, bcc)

    assert len(shares) == -(-count // MAX_OF_MAIL)
    assert max(len(one.to) + len(one.cc) + len(one.bcc) for one in shares) <= MAX_OF_MAIL
    for kind, some in (("to", to), ("cc", cc), ("bcc", bcc)):
        dealt = Counter(text for share in shares for text in getattr(share, kind))
        assert dealt == Counter(some)
    assert sum(bool(one.to or one.cc) for one in shares) == min(len(shares), len(to) + len(cc))


def test_keys_of_shares_differ_and_fit() -> None:
    keys = [key_of_share(key, n) for key in ("k", "k" * 255) for n in range(20)]

    assert len(set(keys)) == len(keys)
    assert max(map(len, keys)) <= 255
    assert keys[0] == "k"


def test_a_group_is_known_by_all_its_recipients_and_their_kinds() -> None:
    some = people(60)

    assert group_of(some, [], []) == group_of(some[::-1], [], [])
    assert group_of(some, [], []) != group_of(some[:-1], [], [])
    assert group_of(some, [], []) != group_of([], some, [])


async def accepted(conn: Conn, octets: bytes, to: list[str], **more: object) -> UUID:
    email = RawEmail(octets, tuple(to), **more)  # type: ignore[arg-type]
    row = await accept_raw(conn, email, project="default")
    assert row.id is not None
    return row.id


async def written_to(conn: Conn) -> list[tuple[int, list[str]]]:
    return await make.rows(
        conn,
        "SELECT q.recipients::integer, coalesce((SELECT array_agg(r.address ORDER BY r.address)"
        " FROM mailqueue.email_recipients AS r WHERE r.email_id = q.id), ARRAY[q.recipient_email])"
        " FROM mailqueue.email_queue AS q ORDER BY q.id",
    )


@pytest.mark.anyio
@pytest.mark.parametrize("count", COUNTS)
async def test_a_finished_message_is_as_many_mails_as_it_takes(conn: Conn, count: int) -> None:
    first = await accepted(conn, simple(), people(count), by="key app")

    found = await written_to(conn)
    assert len(found) == -(-count // 50)
    assert all(recipients == len(addresses) <= 50 for recipients, addresses in found)
    assert sorted(one for _, some in found for one in some) == sorted(people(count))
    assert await make.rows(conn, "SELECT count(*) FROM mailqueue.attachments") == [(1,)]
    assert await make.rows(conn, "SELECT count(*) FROM mailqueue.email_contents") == [(1,)]
    batches = await make.rows(
        conn,
        "SELECT id, created_by, subject, email_ids[1], cardinality(email_ids)"
        " FROM mailqueue.batches",
    )
    assert batches == (
        [(first, "key app", "(no subject)", first, len(found))] if count > 50 else []
    )


@pytest.mark.anyio
async def test_a_recipient_given_twice_gets_it_once(conn: Conn) -> None:
    await accepted(conn, simple(), people(60) + people(60) + ["p1@EXAMPLE.com"])

    assert sorted(one for _, some in await written_to(conn) for one in some) == sorted(people(60))


@pytest.mark.anyio
async def test_a_group_under_one_key_happens_once(conn: Conn) -> None:
    keyed = simple(b"X-Mailqueue-Idempotency-Key: k")
    first = await accepted(conn, keyed, people(120))
    before = await written_to(conn)

    assert await accepted(conn, keyed, people(120)) == first
    assert await written_to(conn) == before
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.batches") == 1


@pytest.mark.anyio
@pytest.mark.parametrize(("first", "second"), [(50, 60), (60, 50), (120, 121), (121, 120)])
async def test_a_key_of_a_group_is_refused_for_other_recipients(
    conn: Conn, first: int, second: int
) -> None:
    keyed = simple(b"X-Mailqueue-Idempotency-Key: k")
    await accepted(conn, keyed, people(first))
    before = await written_to(conn)

    with pytest.raises(InvalidField, match="was used for another email"):
        async with conn.transaction():
            await accepted(conn, keyed, people(second))

    assert await written_to(conn) == before


@pytest.mark.anyio
async def test_the_same_group_again_without_an_answer_is_the_same_mails(conn: Conn) -> None:
    octets = simple(b"Message-ID: <a@example.com>")
    first = await accepted(conn, octets, people(99), is_once=True)
    assert await accepted(conn, octets, people(99), is_once=True) == first
    assert len(await written_to(conn)) == 2


@pytest.mark.anyio
async def test_each_message_of_a_call_has_the_row_of_its_first_mail(conn: Conn) -> None:
    some = [prepared(RawEmail(simple(), tuple(people(count)))) for count in (1, 120, 50, 51)]

    rows = await accept_prepared(conn, some, project="default")

    assert [row.index for row in rows] == [0, 1, 2, 3]
    sizes = await make.rows(
        conn,
        "SELECT b.id, cardinality(b.email_ids) FROM mailqueue.batches AS b ORDER BY b.id",
    )
    assert sizes == [(rows[1].id, 3), (rows[3].id, 2)]
    files = "SELECT count(DISTINCT content_id), count(*) FROM mailqueue.email_queue"
    assert await make.rows(conn, files) == [(4, 7)]


@pytest.mark.anyio
async def test_suppressed_recipients_of_a_group_are_left_out_and_the_others_are_not(
    conn: Conn,
) -> None:
    project = await make.project_named(conn)
    for address in ("p0@example.com", "p77@example.com"):
        await conn.execute(
            "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
            " VALUES (%s, %s, 'manual')",
            [project, address],
        )

    await accepted(conn, simple(), people(100))

    counts = await make.rows(conn, "SELECT sum(recipients)::integer FROM mailqueue.email_queue")
    assert counts == [(98,)]
    assert (
        await make.scalar(
            conn, "SELECT count(*) FROM mailqueue.email_recipients WHERE status = 'suppressed'"
        )
        == 2
    )
