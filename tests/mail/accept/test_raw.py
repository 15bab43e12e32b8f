"""Complete messages: which headers are removed and added; all other bytes are kept."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.raw import RawEmail, accept_prepared, prepared
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.message.preview import MessageSources, build_preview, find_email
from mailqueue.ports.transport import SendAttempt
from mailqueue.templates.cache import TemplateCache
from tests import make
from tests.mail.accept.messages import accept_raw, raw, simple

pytestmark = pytest.mark.anyio

HEAD = (
    b"Received: from laptop by relay; Fri, 20 Nov 2026 10:00:00 +0000\r\n"
    b"Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n"
    b"From: =?utf-8?q?Shop_=C3=9C?= <shop@example.com> (the shop)\r\n"
    b"To: Ann\r\n\t<ann@example.com>\r\n"
    b"Subject:  =?utf-8?b?R3LDvMOfZQ==?= you\r\n"
    b"Message-ID: <one@example.com>\r\n"
    b"X-Odd : spaces  and\ttabs \r\n"
)
BODY = b"\r\n.first\r\n..\r\n trailing  \r\nRaw \xc3\xa9\xff octets\r\n"
PLAIN = HEAD + BODY


async def accepted(conn: Conn, octets: bytes, *to: str, **more: Any) -> UUID:
    email = RawEmail(octets, to or ("ann@example.com",), **more)
    row = await accept_raw(conn, email, project="default")
    assert row.id is not None
    return row.id


async def letter_of(conn: Conn, email_id: UUID) -> SendAttempt:
    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        yield conn

    project_id = await make.project_named(conn)
    shown = await find_email(lend, project_id=project_id, email_id=email_id)
    return await build_preview(lend, MessageSources(AttachmentStorage(), TemplateCache()), shown)


async def test_a_message_is_sent_octet_for_octet(conn: Conn) -> None:
    letter = await letter_of(conn, await accepted(conn, PLAIN))

    assert letter.message == PLAIN
    assert letter.envelope.recipients == ("ann@example.com",)
    assert letter.message_id == "<one@example.com>"


async def test_only_hidden_headers_and_our_own_are_removed(conn: Conn) -> None:
    extra = (
        b"Bcc: hidden@example.com,\r\n more@example.com\r\nReturn-Path: <x@example.com>\r\n"
        b"X-Mailqueue-Category: news\r\nRESENT-BCC: a@example.com\r\n"
    )

    found = prepared(RawEmail(extra + PLAIN, ("ann@example.com",)))

    assert found.octets == PLAIN


async def test_a_missing_date_and_message_id_come_before_the_rest() -> None:
    octets = raw(b"From: Shop <shop@xn--exmple-cua.com>", b"To: ann@example.com")

    found = prepared(RawEmail(octets, ("ann@example.com",))).octets

    date, message_id, rest = found.split(b"\r\n", 2)
    assert date.startswith(b"Date: ")
    assert message_id.startswith(b"Message-ID: <")
    assert message_id.endswith(b"@xn--exmple-cua.com>")
    assert rest == octets


async def test_the_list_shows_who_wrote_and_what_about(conn: Conn) -> None:
    email_id = await accepted(conn, PLAIN)

    [row] = await make.rows(
        conn,
        "SELECT subject, from_email, from_name, recipient_email, status FROM mailqueue.emails"
        " WHERE id = %s",
        email_id,
    )

    assert row == ("Grüße you", "shop@example.com", "Shop Ü", "ann@example.com", "pending")


async def test_recipients_are_those_of_the_envelope(conn: Conn) -> None:
    octets = raw(
        b"From: shop@example.com",
        b"To: Someone Else <else@example.org>, BEN@example.com",
        b"Cc: cleo@example.com",
    )

    email_id = await accepted(
        conn, octets, "dora@example.com", "cleo@example.com", "ben@example.com", "ben@example.com"
    )

    found = await make.rows(
        conn,
        "SELECT kind, address FROM mailqueue.email_recipients WHERE email_id = %s"
        " ORDER BY position",
        email_id,
    )
    assert found == [
        ("to", "ben@example.com"),
        ("cc", "cleo@example.com"),
        ("bcc", "dora@example.com"),
    ]
    letter = await letter_of(conn, email_id)
    assert set(letter.envelope.recipients) == {row[1] for row in found}


async def test_what_the_fields_for_us_ask_holds(conn: Conn) -> None:
    octets = simple(
        b"X-Mailqueue-Category: newsletter",
        b"x-mailqueue-campaign: spring",
        b"X-Mailqueue-Tags: a, b",
        b"X-Mailqueue-Tag: =?utf-8?q?=C3=BC?=",
        b"X-Mailqueue-Priority: high",
        b"X-Mailqueue-Send-At: Sat, 20 Nov 2027 10:00:00 +0100",
        b"X-Mailqueue-Delivery: hold",
        b'X-Mailqueue-Custom-Data: {"order": 81}',
        b"X-Mailqueue-Max-Attempts: 7",
        b"X-Mailqueue-Id: of a mail that was passed on",
    )

    email_id = await accepted(conn, octets)

    [row] = await make.rows(
        conn,
        "SELECT category, campaign_id, tags, priority, run_at, delivery, custom_data, max_attempts"
        " FROM mailqueue.email_queue WHERE id = %s",
        email_id,
    )
    at = datetime(2027, 11, 20, 9, tzinfo=UTC)
    assert row == ("newsletter", "spring", ["a", "b", "ü"], 1, at, "hold", {"order": 81}, 7)
    letter = await letter_of(conn, email_id)
    assert b"ailqueue" not in letter.message


async def test_the_author_has_to_be_one_the_project_may_use(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.projects SET allowed_from = '{example.com}'")

    await accepted(conn, simple())
    with pytest.raises(InvalidField, match="is not allowed in this project"):
        await accepted(conn, raw(b"From: Shop <evil@example.org>"))


async def test_suppressed_recipients_are_accepted_and_finished(conn: Conn) -> None:
    project_id = await make.project_named(conn)
    await make.inserted(
        conn,
        "suppressions",
        {"project_id": project_id, "address": "ann@example.com", "reason": "hard_bounce"},
    )

    row = await accept_raw(conn, RawEmail(simple(), ("ann@example.com",)), project="default")
    both = await accept_raw(
        conn, RawEmail(simple(), ("ann@example.com", "ben@example.com")), project="default"
    )

    assert row.status == "suppressed"
    assert row.reason is not None
    assert both.status == "queued"
    assert both.id is not None
    left = await make.rows(
        conn,
        "SELECT address, status FROM mailqueue.email_recipients WHERE email_id = %s"
        " ORDER BY position",
        both.id,
    )
    assert left == [("ann@example.com", "suppressed"), ("ben@example.com", "pending")]


def mixed(kind: bytes, octets: bytes, boundary: bytes = b"one", name: bytes = b"a.pdf") -> bytes:
    return raw(
        b"From: shop@example.com",
        b"Message-ID: <%b@example.com>" % boundary,
        b'Content-Type: multipart/mixed; boundary="bound-%b"' % boundary,
        body=b"\r\n--bound-%b\r\nContent-Type: text/plain\r\n\r\nHello\r\n--bound-%b\r\n"
        b'Content-Type: %b; name="%b"\r\nContent-Transfer-Encoding: base64\r\n\r\n%b\r\n'
        b"--bound-%b--\r\n" % (boundary, boundary, kind, name, b64encode(octets), boundary),
    )


async def test_files_are_held_to_the_rules_of_the_project(conn: Conn) -> None:
    await accepted(conn, mixed(b"application/pdf", b"%PDF-1.7"))

    for octets, why in (
        (mixed(b"application/pdf", b"MZ\x90\0"), "declared as application/pdf"),
        (mixed(b"text/html", b"<p>"), "text/html is not allowed"),
        (mixed(b"application/pdf", b"%PDF-1.7", name=b"a.html"), "cannot be named"),
        (mixed(b"application/x-msdownload", b"MZ"), "is not allowed in this project"),
    ):
        with pytest.raises(InvalidField, match=why):
            async with conn.transaction():
                await accepted(conn, octets)
    await conn.execute("UPDATE mailqueue.projects SET attachment_bytes = 100")
    with pytest.raises(InvalidField, match="may have at most 100 bytes"):
        await accepted(conn, mixed(b"application/pdf", b"%PDF-1.7" + bytes(100)))


async def test_the_same_octets_to_the_same_people_are_one_mail(conn: Conn) -> None:
    first = await accepted(conn, simple(), is_once=True)
    again = await accepted(conn, b"Received: later\r\n" + simple(), is_once=True)
    other = await accepted(conn, simple(), "ben@example.com", is_once=True)
    reworded = await accepted(conn, simple() + b"P.S.\r\n", is_once=True)
    nameless = [await accepted(conn, raw(b"From: a@example.com"), is_once=True) for _ in range(2)]

    assert first == again
    assert len({first, other, reworded, *nameless}) == 5


async def test_a_key_holds_for_the_next_attempt_of_a_program(conn: Conn) -> None:
    key = b"X-Mailqueue-Idempotency-Key: order-81\r\n"
    first = await accepted(conn, key + b"Date: a\r\n" + mixed(b"application/pdf", b"%PDF-1"))

    again = await accepted(
        conn, key + b"Date: b\r\n" + mixed(b"application/pdf", b"%PDF-1", b"two")
    )

    assert again == first
    with pytest.raises(InvalidField, match="was used for another email"):
        await accepted(conn, key + mixed(b"application/pdf", b"%PDF-2", b"two"))


async def test_all_of_a_group_or_none(conn: Conn) -> None:
    good = prepared(RawEmail(simple(), ("ann@example.com",)))
    bad = prepared(RawEmail(simple(b"X-Mailqueue-Sender: nobody"), ("ann@example.com",)))

    with pytest.raises(InvalidField, match="no sender account"):
        async with conn.transaction():
            await accept_prepared(conn, [good, bad], project="default")
    rows = await accept_prepared(conn, [good, good], project="default")

    assert [row.index for row in rows] == [0, 1]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 2


async def test_a_report_keeps_its_null_sender(conn: Conn) -> None:
    report = await letter_of(conn, await accepted(conn, simple(), has_null_sender=True))
    usual = await letter_of(conn, await accepted(conn, simple()))

    assert report.envelope.sender == ""
    assert "@" in usual.envelope.sender


async def test_a_header_beyond_ascii_needs_a_server_that_takes_it(conn: Conn) -> None:
    body = await letter_of(conn, await accepted(conn, PLAIN))
    head = await letter_of(conn, await accepted(conn, simple("Subject: grün".encode())))

    assert not body.envelope.needs_smtputf8
    assert head.envelope.needs_smtputf8


async def test_the_octets_are_stored_once(conn: Conn) -> None:
    await accepted(conn, PLAIN, *[f"p{n}@example.com" for n in range(50)])

    assert await make.rows(conn, "SELECT octets, bytes FROM mailqueue.attachments") == [
        (PLAIN, len(PLAIN))
    ]
    with pytest.raises(InvalidField, match="1000 recipients, got 1001"):
        await accepted(conn, PLAIN, *[f"p{n}@example.com" for n in range(1001)])
