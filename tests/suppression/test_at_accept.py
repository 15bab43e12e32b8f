"""Suppressed mail never enters a lane: it is finished when accepted, with the reason."""

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.accept.intakes import WAYS, Way, plain

pytestmark = pytest.mark.anyio

each_way = pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))

BOUNCED = "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES ('{address}', '{type}')"
OPTED_OUT = (
    "INSERT INTO mailqueue.unsubscribe_list (email, category) VALUES ('{address}', {category})"
)
BY_HAND = (
    "INSERT INTO mailqueue.suppressions (project_id, address, reason, expires_at)"
    " SELECT id, '{address}', 'manual', {until} FROM mailqueue.projects WHERE name = 'default'"
)


async def say(conn: Conn, statement: str, **parts: str) -> None:
    await conn.execute(statement.format(**{"address": "ann@example.com"} | parts).encode())


async def outcome(conn: Conn, email_id: object) -> tuple[object, ...]:
    [found] = await make.rows(
        conn, "SELECT status, reason FROM mailqueue.emails WHERE id = %s", email_id
    )
    return found


SUPPRESSING = [
    (BOUNCED, {"type": "hard"}, "hard_bounce"),
    (BOUNCED, {"type": "complaint"}, "complaint"),
    (BOUNCED, {"type": "hard", "address": "ANN@Example.COM"}, "hard_bounce"),
    (OPTED_OUT, {"category": "''"}, "unsubscribed"),
    (OPTED_OUT, {"category": "DEFAULT"}, "unsubscribed"),
    (OPTED_OUT, {"category": "NULL"}, "unsubscribed"),
    (OPTED_OUT, {"category": "'marketing'"}, "unsubscribed"),
    (BY_HAND, {"until": "'infinity'"}, "manual"),
    (BY_HAND, {"until": "now() + interval '1 d'"}, "manual"),
]


@each_way
@pytest.mark.parametrize(("statement", "parts", "reason"), SUPPRESSING)
async def test_a_suppressed_mail_is_in_history_at_once_with_the_reason(
    conn: Conn, way: Way, statement: str, parts: dict[str, str], reason: str
) -> None:
    await say(conn, statement, **parts)

    email_id = await way(conn, **plain(category="marketing", recipient_email="Ann@EXAMPLE.com"))

    assert await outcome(conn, email_id) == ("suppressed", reason)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 0
    told = await make.rows(conn, "SELECT email_id, type, detail FROM mailqueue.email_events")
    assert told == [(email_id, "suppressed", reason)]
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email_id)
    assert f": {reason}; to see why: mailqueue suppression show " in why
    assert await make.scalar(conn, "SELECT difference FROM mailqueue.books") == 0


NOT_SUPPRESSING = [
    (BOUNCED, {"type": "soft"}),
    (BOUNCED, {"type": "hard", "address": "ann@example.org"}),
    (BOUNCED, {"type": "hard", "address": "joann@example.com"}),
    (OPTED_OUT, {"category": "'digest'"}),
    (BY_HAND, {"until": "now() - interval '1 s'"}),
]


@each_way
@pytest.mark.parametrize(("statement", "parts"), NOT_SUPPRESSING)
async def test_what_concerns_others_stops_nothing(
    conn: Conn, way: Way, statement: str, parts: dict[str, str]
) -> None:
    await say(conn, statement, **parts)

    email_id = await way(conn, **plain(category="marketing"))

    assert await outcome(conn, email_id) == ("pending", None)


@each_way
async def test_projects_have_lists_of_their_own(conn: Conn, way: Way) -> None:
    await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.bounce_list (project, email, bounce_type)"
        " VALUES ('shop', 'ann@example.com', 'hard')"
    )

    here = await way(conn, **plain())
    there = await way(conn, **plain(project="shop"))

    assert await outcome(conn, here) == ("pending", None)
    assert await outcome(conn, there) == ("suppressed", "hard_bounce")


@each_way
async def test_only_the_suppressed_of_several_recipients_is_left_out(conn: Conn, way: Way) -> None:
    await say(conn, BOUNCED, type="hard", address="cy@example.com")

    email_id = await way(conn, **plain(cc=["Cy <CY@example.com>", "b@example.com"]))

    assert await outcome(conn, email_id) == ("pending", None)
    recipients = await make.rows(
        conn,
        "SELECT kind, lower(address), status, reason FROM mailqueue.email_recipients"
        " ORDER BY position",
    )
    assert recipients == [
        ("to", "ann@example.com", "pending", None),
        ("cc", "cy@example.com", "suppressed", "hard_bounce"),
        ("cc", "b@example.com", "pending", None),
    ]
    left = "SELECT recipients FROM mailqueue.email_queue WHERE id = %s"
    assert await make.scalar(conn, left, email_id) == 2, "limits count those it goes to"


@each_way
async def test_a_mail_goes_to_the_others_when_its_first_recipient_is_suppressed(
    conn: Conn, way: Way
) -> None:
    await say(conn, BOUNCED, type="hard")

    email_id = await way(conn, **plain(bcc=["b@example.com"]))

    assert await outcome(conn, email_id) == ("pending", None)
    await make.sender_account(conn)
    assert [i for i, _ in await make.claimed(conn, await make.worker(conn))] == [email_id]


@each_way
async def test_a_mail_without_a_recipient_left_is_finished(conn: Conn, way: Way) -> None:
    await say(conn, BOUNCED, type="hard")
    await say(conn, OPTED_OUT, category="''", address="b@example.com")

    email_id = await way(conn, **plain(cc=["b@example.com"]))

    assert (await outcome(conn, email_id))[0] == "suppressed"
    statuses = "SELECT array_agg(status) FROM mailqueue.email_recipients"
    assert await make.scalar(conn, statuses) == ["suppressed", "suppressed"]


async def test_one_statement_sorts_out_each_of_its_rows(conn: Conn) -> None:
    await say(conn, BOUNCED, type="hard", address="p3@example.com")
    await conn.execute(
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
        " SELECT 'p' || n || '@example.com', 's', 't' FROM generate_series(1, 5) AS n"
    )

    counted = await make.rows(
        conn, "SELECT status, count(*) FROM mailqueue.emails GROUP BY status ORDER BY status"
    )
    assert counted == [("pending", 4), ("suppressed", 1)]
    assert await make.scalar(conn, "SELECT difference FROM mailqueue.books") == 0


async def test_a_suppressed_mail_wakes_no_lane_for_nothing(conn: Conn) -> None:
    await make.sender_account(conn)
    await say(conn, BOUNCED, type="hard")
    await make.queued_email(conn)

    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_an_address_that_is_none_cannot_be_listed(conn: Conn) -> None:
    for statement, parts in ((BOUNCED, {"type": "hard"}), (OPTED_OUT, {"category": "''"})):
        with pytest.raises(errors.InvalidParameterValue, match="email: "):
            async with conn.transaction():
                await say(conn, statement, **parts, address="nobody")
    with pytest.raises(errors.InvalidParameterValue, match="there is no project"):
        await conn.execute(
            "INSERT INTO mailqueue.bounce_list (project, email, bounce_type)"
            " VALUES ('nowhere', 'ann@example.com', 'hard')"
        )


async def test_the_first_reason_stays(conn: Conn) -> None:
    await say(conn, BOUNCED, type="hard")
    await say(conn, OPTED_OUT, category="''")

    assert await outcome(conn, await make.queued_email(conn)) == ("suppressed", "hard_bounce")
