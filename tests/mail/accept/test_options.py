"""Options of enqueue() and messages of enqueue_batch(): names, types, errors."""

from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.templates.model import NewText
from tests import make
from tests.contacts import people
from tests.mail.accept.intakes import NotAccepted, by_batch, by_enqueue, plain
from tests.templates.making import published

pytestmark = pytest.mark.anyio

NOT_INSTANTS = ["20300501", "0", "-1", "08", "now", "tomorrow", "2030-05-01", "2030-05-01T08:00:00"]
NOT_INSTANTS += ["2030-05-01T08:00:00+99:99", "2030-05-01T08:00:00+16", "2030-05-01T08:00:00+01:60"]
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"colour": "red"}, "colour", "there is no such option"),
    ({"project_id": "x"}, "project_id", "there is no such option"),
    ({"status": "held"}, "status", "there is no such option"),
    ({"": "x"}, "", "there is no such option"),
    ({"priority": "urgent"}, "priority", 'critical, high, normal or low, got "urgent"'),
    ({"priority": "High"}, "priority", "critical, high, normal or low"),
    ({"priority": 1.5}, "priority", "critical, high, normal or low"),
    ({"priority": -1}, "priority", "critical, high, normal or low"),
    ({"priority": True}, "priority", "a string is needed, got boolean"),
    ({"run_at": "whenever"}, "run_at", 'a timestamp is needed, got "whenever"'),
    ({"run_at": "2030-13-45"}, "run_at", "a timestamp is needed"),
    ({"run_at": "2030-13-45T00:00:00Z"}, "run_at", "a timestamp is needed"),
    *(
        ({name: text}, name, f'a timestamp is needed, got "{text}": RFC 3339 format')
        for name in ("run_at", "expires_at")
        for text in NOT_INSTANTS
    ),
    ({"run_at": 17}, "run_at", "a string is needed, got number"),
    ({"expires_at": []}, "expires_at", "a string is needed, got array"),
    ({"max_attempts": "5"}, "max_attempts", '1 to 1000, got "5"'),
    ({"max_attempts": 2.5}, "max_attempts", "1 to 1000, got 2.5"),
    ({"max_attempts": 99999}, "max_attempts", "1 to 1000, got 99999"),
    ({"campaign_id": 5}, "campaign_id", "a string is needed, got number"),
    ({"from_email": {}}, "from_email", "a string is needed, got object"),
    ({"idempotency_key": 7}, "idempotency_key", "a string is needed"),
    ({"sender": ["a"]}, "sender", "a string is needed, got array"),
    ({"tags": "a"}, "tags", "a list of strings is needed"),
    ({"tags": ["a", 1]}, "tags", "a list of strings is needed"),
    ({"cc": "a@example.com"}, "cc", "a list of strings is needed"),
    ({"bcc": {"a": "b"}}, "bcc", "a list of strings is needed"),
    ({"to": [["a@example.com"]]}, "to", "a list of strings is needed"),
    ({"tags": [["a"]]}, "tags", "a list of strings is needed"),
    ({"cc": [None]}, "cc", "a list of strings is needed"),
    ({"headers": ["X: y"]}, "headers", "an object of names and values is needed, got array"),
    ({"headers": "X: y"}, "headers", "an object of names and values is needed, got string"),
]


@pytest.mark.parametrize("way", [by_enqueue, by_batch])
@pytest.mark.parametrize(("options", "field", "words"), REFUSED)
async def test_an_option_of_another_name_or_type_is_refused(
    conn: Conn, way: Any, options: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(NotAccepted) as refused:
        await way(conn, **plain(), **options)

    assert (refused.value.field or "") == field
    assert words in refused.value.message


@pytest.mark.parametrize("way", [by_enqueue, by_batch])
@pytest.mark.parametrize(
    ("word", "priority"),
    [("critical", 0), ("high", 1), ("normal", 2), ("low", 3), ("0", 0), ("3", 3), (0, 0), (2, 2)],
)
async def test_priorities_have_words(conn: Conn, way: Any, word: str | int, priority: int) -> None:
    email_id = await way(conn, **plain(priority=word))

    query = "SELECT priority::integer FROM mailqueue.email_queue WHERE id = %s"
    assert await make.scalar(conn, query, email_id) == priority


@pytest.mark.parametrize("way", [by_enqueue, by_batch])
async def test_an_option_that_is_null_was_not_given(conn: Conn, way: Any) -> None:
    options = dict.fromkeys(
        ("priority", "run_at", "tags", "cc", "headers", "sender", "delivery", "idempotency_key")
    )

    email_id = await way(conn, **plain(), **options)

    assert await make.status_of(conn, email_id) == "pending"


@pytest.mark.parametrize("options", ["[]", '"x"', "3"])
async def test_options_that_are_no_object_are_refused(conn: Conn, options: str) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="options: an object is needed"):
        await conn.execute(
            "SELECT mailqueue.enqueue(recipient => 'a@example.com', subject => 's', text => 't',"
            " options => %s::jsonb)",
            (options,),
        )


async def batch(conn: Conn, messages: object, project: str = "default") -> list[tuple[Any, ...]]:
    return await make.rows(
        conn, "SELECT * FROM mailqueue.enqueue_batch(%s, %s)", project, Jsonb(messages)
    )


@pytest.mark.parametrize("messages", [{}, "x", 3, None])
async def test_messages_that_are_no_list_are_refused(conn: Conn, messages: object) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="messages: a list is needed, got"):
        await batch(conn, messages)


async def test_an_unknown_project_refuses_the_whole_batch(conn: Conn) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="project: there is no project"):
        await batch(conn, [], project="nowhere")


async def test_an_empty_batch_is_no_mail(conn: Conn) -> None:
    assert await batch(conn, []) == []


async def test_a_batch_answers_for_each_message_in_order(conn: Conn) -> None:
    listed = (
        "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES ('x@example.com', 'hard')"
    )
    await conn.execute(listed.encode())
    good = {"recipient": "a@example.com", "subject": "s", "text": "t"}

    found = await batch(
        conn,
        [
            good,
            {**good, "recipient": "nobody"},
            17,
            {**good, "recipient": "x@example.com"},
            {**good, "idempotency_key": "k"},
            {**good, "idempotency_key": "k"},
            {**good, "idempotency_key": "k", "subject": "other"},
            {**good, "subject": 5},
            {**good, "html": ["x"]},
            {**good, "colour": "red"},
            {},
        ],
    )

    assert [row[0] for row in found] == list(range(11))
    assert [row[2] for row in found] == [
        "queued", "rejected", "rejected", "suppressed", "queued", "duplicate",
        "rejected", "rejected", "rejected", "rejected", "rejected",
    ]  # fmt: skip
    assert [row[1] is None for row in found] == [row[2] == "rejected" for row in found]
    assert found[4][1] == found[5][1], "a duplicate gives the first one's id"
    reasons = [row[3] for row in found]
    assert reasons[0] is None
    assert reasons[1].startswith('recipient_email: "nobody"')
    assert reasons[2] == "messages: an object for each message is needed, got number"
    assert reasons[3] == "hard_bounce"
    assert reasons[6] == 'idempotency_key: "k" was used for another email'
    assert reasons[7] == "subject: a string is needed, got number"
    assert reasons[8] == "html: a string is needed, got array"
    assert reasons[9] == "colour: there is no such option"
    assert reasons[10] == "recipient_email: an address is needed"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails") == 3


async def test_equal_contents_of_a_batch_are_stored_once(conn: Conn) -> None:
    messages = [
        {"recipient": f"p{n}@example.com", "subject": "s", "text": "t" * (n % 2 + 1)}
        for n in range(10)
    ]

    await batch(conn, messages)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_contents") == 2
    right = """
        SELECT bool_and(c.text_body = repeat('t', substring(q.recipient_email, 2, 1)::int % 2 + 1))
          FROM mailqueue.email_queue AS q
          JOIN mailqueue.email_contents AS c ON c.id = q.content_id"""
    assert await make.scalar(conn, right) is True


JSON_NULL = "'null'::jsonb"


@pytest.mark.parametrize(
    ("columns", "values", "kept"),
    [
        ("subject, text_body", "'Hello', 'Hi'", None),
        ("subject, text_body, tracking_token", "'Hello', 'Hi', 't-1'", {"tracking_token": "t-1"}),
        ("template", "'news'", {"variables": {}}),
    ],
)
async def test_custom_data_that_is_a_json_null_is_stored_as_none(
    conn: Conn, columns: str, values: str, kept: dict[str, Any] | None
) -> None:
    """The archive writes both as one null, so that the one would come back as the other."""
    await published(conn, None, slug="news", words=NewText("News", "<p>News</p>", "News"))

    email = await make.scalar(
        conn,
        f"INSERT INTO mailqueue.email_queue (recipient_email, custom_data, {columns})"
        f" VALUES ('ann@example.com', {JSON_NULL}, {values}) RETURNING id",
    )

    query = "SELECT custom_data, custom_data IS NULL FROM mailqueue.email_queue WHERE id = %s"
    assert await make.rows(conn, query, email) == [(kept, kept is None)]


async def test_custom_data_of_a_recipient_of_a_batch_that_is_a_json_null_is_none(
    conn: Conn,
) -> None:
    """Also where the recipient is a list of contacts."""
    project = await make.project_named(conn)
    [bob] = await people.added(conn, project, "bob@example.com")
    await people.list_of(conn, project, "news", members=[bob])
    recipients = [{"recipient": name, "custom_data": None} for name in ("ann@example.com", "news")]

    query = """
        SELECT s.status, s.reason FROM mailqueue.enqueue_shared(
               'default', '[{"subject": "s", "text": "t"}]', '{"category": "marketing"}', %s, true,
               'tests') AS s
    """
    found = await make.rows(conn, query, Jsonb(recipients))

    assert found == [("queued", None), ("expanding", None)]
    query = "SELECT recipient_email, custom_data IS NULL FROM mailqueue.email_queue"
    assert await make.rows(conn, query) == [("ann@example.com", True)]
