"""Refusals by which programs decide have a code, in SQL and in Python."""

import pytest
from psycopg.types.json import Jsonb

from mailqueue.core.errors import InvalidField, Refusal
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.acceptance import accept
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.accept.raw import RawEmail, prepared
from mailqueue.producer.enqueueing import enqueue
from mailqueue.templates.cache import TemplateCache
from tests import make
from tests.mail.accept.messages import simple

pytestmark = pytest.mark.anyio
PROGRAM = {"filename": "a.pdf", "content": "TVo=", "content_type": "application/pdf"}
LONG_NAME = {"filename": "may have" * 40, "content": "aGk=", "content_type": "text/csv"}


async def only_from_shop(conn: Conn) -> None:
    query = "SELECT mailqueue.change_project('default', %s, 'ann@desk')"
    await make.scalar(conn, query, Jsonb({"allowed_from": ["shop@example.com"]}))


def email(**options: object) -> NewEmail:
    return NewEmail("ann@example.com", "Hi", None, "Hi", options)


async def test_each_refused_mail_of_several_has_its_code(conn: Conn) -> None:
    await only_from_shop(conn)
    emails = [
        email(),
        email(from_email="other@example.com"),
        email(tags=["x" * 999]),
        email(attachments=[PROGRAM]),
        email(),
        email(attachments=[LONG_NAME]),
    ]

    results = await accept(conn, emails, project="default", templates=TemplateCache())

    assert [one.refusal if isinstance(one, InvalidField) else "queued" for one in results] == [
        "queued",
        Refusal.SENDER_NOT_ALLOWED,
        None,
        Refusal.FILE_NOT_ALLOWED,
        "queued",
        None,
    ]


async def test_producers_see_the_code_of_a_refusal(conn: Conn) -> None:
    await only_from_shop(conn)
    message = {"recipient": "ann@example.com", "subject": "Hi", "text": "Hi"}

    with pytest.raises(InvalidField) as caught:
        async with conn.transaction():
            await enqueue(
                conn, "ann@example.com", subject="Hi", text="Hi", from_email="other@example.com"
            )
    query = "SELECT to_jsonb(b) FROM mailqueue.enqueue_batch('default', %s) AS b"
    rows = await make.rows(conn, query, Jsonb([message, message | {"tags": 1}]))

    assert caught.value.refusal is Refusal.SENDER_NOT_ALLOWED
    assert [set(row[0]) for row in rows] == [{"index", "id", "status", "reason"}] * 2
    assert [row[0]["status"] for row in rows] == ["queued", "rejected"]


def test_a_message_in_a_loop_is_refused_with_a_code() -> None:
    hops = [b"Received: by mx.example.com"] * 101

    with pytest.raises(InvalidField) as caught:
        prepared(RawEmail(simple(*hops), ("ann@example.com",)))

    assert caught.value.refusal is Refusal.MAIL_LOOP
