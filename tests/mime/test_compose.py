"""Composed messages are parsed as composed, and need no changes by SMTP servers."""

import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mailqueue.core.address import Mailbox, parse_address, parse_mailbox
from mailqueue.mime.compose import PerMail, compose, message_id
from mailqueue.mime.skeleton import MessageContent, compile_skeleton

from .strict import body_of, check_octets, header_names, read

SHOP = parse_mailbox('"Shop, Inc." <shop@example.com>')
ANN = parse_mailbox("Ann <ann@example.net>")
EMAIL_ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
AT = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)

CONTROLS = "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029"
CARRIED = st.characters(exclude_categories=["Cs"], exclude_characters=CONTROLS)
SUBJECTS = st.one_of(st.text(CARRIED, max_size=120), st.text("=?utf-8bQ_ é🎉", max_size=120))
BODIES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=300),
    st.text("a.=-_ \t\r\né", max_size=300),
    st.lists(
        st.sampled_from([".", "..", "x" * 998, "x" * 999, "--", "\n", "\r\n", " ", "From "])
    ).map("".join),
)


def mail(
    *,
    sender: Mailbox = SHOP,
    to: Sequence[Mailbox] = (ANN,),
    cc: Sequence[Mailbox] = (),
    reply_to: Sequence[Mailbox] = (),
    subject: str | None = None,
    at: datetime = AT,
    headers: Sequence[tuple[str, str]] = (),
) -> PerMail:
    return PerMail(
        sender=sender,
        to=to,
        cc=cc,
        reply_to=reply_to,
        subject=subject,
        written_at=at,
        message_id=message_id(EMAIL_ID, "example.com"),
        headers=headers,
    )


def composed(content: MessageContent, **given: object) -> bytes:
    return compose(compile_skeleton(content), mail(**given))  # type: ignore[arg-type]


def with_crlf(text: str) -> str:
    return re.sub("\r\n|\r|\n", "\r\n", text)


@given(SUBJECTS, st.text(CARRIED, max_size=60), BODIES, BODIES)
@example("Weekend 🎉", 'O"Neil, Ann', "<p>Ü</p>", "")
@example("=?utf-8?b?YQ0KQmNjOiB2aWN0aW1AZXhhbXBsZS5uZXQ=?=", "=?utf-8?q?a=0D=0ABcc:?=", "", "")
def test_a_receiver_reads_exactly_what_was_given(
    subject: str, name: str, html: str, text: str
) -> None:
    message = composed(MessageContent(subject, html, text), to=[Mailbox(name, ANN.address)])

    parsed = read(message)

    assert parsed["Subject"] == subject
    assert body_of(parsed, "html") == with_crlf(html)
    assert body_of(parsed, "plain") == with_crlf(text)
    assert header_names(message) == [
        *("From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type")
    ]


@given(st.sampled_from(["html", "plain"]), BODIES)
@example("plain", "")
@example("html", "no line end")
def test_a_single_part_arrives_as_given_and_ends_with_a_line_end(kind: str, body: str) -> None:
    content = MessageContent("s", body, None) if kind == "html" else MessageContent("s", None, body)

    message = composed(content)

    expected = with_crlf(body)
    assert body_of(read(message), kind) == expected + "\r\n" * (not expected.endswith("\r\n"))
    assert header_names(message)[-3:] == [
        *("MIME-Version", "Content-Type", "Content-Transfer-Encoding")
    ]


def test_an_ascii_message_looks_as_a_person_would_write_it() -> None:
    message = composed(MessageContent("Hello", "<p>Hi</p>", "Hi"))

    mark = boundary_of(message)
    assert message.decode() == with_crlf(f"""\
From: "Shop, Inc." <shop@example.com>
To: Ann <ann@example.net>
Subject: Hello
Date: Fri, 02 Jan 2026 03:04:05 +0000
Message-ID: <01890a5dac96774bbcceb302099a8057@example.com>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="{mark}"

--{mark}
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Hi
--{mark}
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: 7bit

<p>Hi</p>
--{mark}--
""")


def test_an_empty_text_beside_html_is_a_part_and_a_missing_one_is_none() -> None:
    empty = read(composed(MessageContent("s", "<p>Hi</p>", "")))
    missing = read(composed(MessageContent("s", "<p>Hi</p>", None)))

    assert [part.get_content_type() for part in empty.iter_parts()] == ["text/plain", "text/html"]
    assert body_of(empty, "plain") == ""
    assert missing.get_content_type() == "text/html"


def test_the_same_content_and_mail_make_the_same_octets() -> None:
    content = MessageContent("Grüße", "<p>ü</p>", "ü")

    assert composed(content) == composed(content)


def test_a_body_cannot_hold_its_own_boundary() -> None:
    """An attacker who knows how a boundary is made can write a body that contains the first
    choice.
    """
    room = "y" * 26
    body = f"{'x' * 300}\n--{room}\nContent-Type: text/html\n\nforged\n--{room}--\n"
    first_choice = boundary_of(composed(MessageContent("s", "<p>", body)))
    text = body.replace(room, first_choice)

    message = composed(MessageContent("s", "<p>", text))

    assert len(room) == len(first_choice)
    assert boundary_of(message) != first_choice
    assert len(list(read(message).iter_parts())) == 2
    assert body_of(read(message), "plain") == with_crlf(text)


def boundary_of(message: bytes) -> str:
    found = re.search(rb'boundary="([^"]+)"', message)
    assert found is not None
    return found[1].decode()


def test_copies_and_answers_have_headers_and_blind_copies_have_none() -> None:
    others = [parse_mailbox(f"P{n} <p{n}@example.org>") for n in range(3)]

    message = composed(
        MessageContent("s", None, "t"), to=others[:1], cc=others[1:], reply_to=[SHOP]
    )

    parsed = read(message)
    assert header_names(message)[:4] == ["From", "To", "Cc", "Reply-To"]
    assert [one.addr_spec for one in parsed["Cc"].addresses] == ["p1@example.org", "p2@example.org"]
    assert parsed["Reply-To"].addresses[0].display_name == "Shop, Inc."


def test_a_message_without_named_recipients_says_so() -> None:
    message = composed(MessageContent("s", None, "t"), to=[])

    assert b"\r\nTo: undisclosed-recipients:;\r\n" in message
    assert read(message)["To"].addresses == ()


def test_a_subject_of_one_mail_replaces_the_shared_one() -> None:
    skeleton = compile_skeleton(MessageContent("shared", None, "t"))

    assert read(compose(skeleton, mail(subject="own")))["Subject"] == "own"
    assert read(compose(skeleton, mail()))["Subject"] == "shared"


def test_shared_and_own_headers_stand_beside_each_other() -> None:
    content = MessageContent("s", None, "t", headers=(("X-Campaign", "spring"),))
    one_click = ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")

    parsed = read(composed(content, headers=[one_click, ("X-Note", "=?utf-8?q?literal?=")]))

    assert parsed["X-Campaign"] == "spring"
    assert parsed["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert parsed["X-Note"] == "=?utf-8?q?literal?="


def test_the_date_is_utc_and_follows_the_second() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    at = datetime(2024, 2, 29, 4, 59, 59, 999_999, tzinfo=east)

    assert read(composed(MessageContent("s", None, "t"), at=at))["Date"].datetime == datetime(
        2024, 2, 28, 23, 29, 59, tzinfo=UTC
    )


@pytest.mark.deep
def test_the_date_does_not_follow_the_clock_zone_of_the_machine() -> None:
    code = (
        "import time; time.tzset(); from mailqueue.mime.compose import date_header;"
        "print(date_header(0).decode().strip())"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={"TZ": "IST-5:30", "LC_ALL": "de_DE.UTF-8"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )

    assert ran.stdout == b"Date: Thu, 01 Jan 1970 00:00:00 +0000\n"


def test_an_email_keeps_its_message_id_and_two_emails_never_share_one() -> None:
    other = UUID("01890a5d-ac96-774b-bcce-b302099a8058")

    assert message_id(EMAIL_ID, "example.com") == message_id(EMAIL_ID, "example.com")
    assert message_id(EMAIL_ID, "example.com") != message_id(other, "example.com")
    with pytest.raises(ValueError, match="A-label form"):
        message_id(EMAIL_ID, "example.com>\r\nBcc: x")


def test_an_address_beyond_ascii_is_the_only_thing_that_is_not_ascii() -> None:
    wide = parse_mailbox("Δοκιμή <δοκιμή@bücher.example>")

    message = composed(MessageContent("Grüße 🎉", "<p>日本</p>", "日本"), to=[wide])

    assert str(read(message)["To"]) == f"Δοκιμή <{wide.address.sent}>"
    assert message.replace(wide.address.sent.encode(), b"").isascii()


@given(SUBJECTS, BODIES, BODIES)
def test_smtp_has_nothing_to_normalise_so_a_signature_holds(
    subject: str, html: str, text: str
) -> None:
    message = composed(MessageContent(subject, html, text))

    normalised = re.sub(rb"\r\n|\r|\n", b"\r\n", message)
    stuffed = re.sub(rb"(?m)^\.", b"..", message)
    unstuffed = re.sub(rb"(?m)^\.\.", b".", stuffed)
    assert normalised == message
    assert unstuffed == message
    check_octets(message)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (MessageContent("s", None, None), "needs an html or a text body"),
        (
            MessageContent("s\r\nBcc: x", None, "t"),
            "Subject contains the control character U\\+000D",
        ),
        (MessageContent("s", "a\0", "t"), "html contains the character NUL"),
        (MessageContent("s", None, "\ud800"), "text contains a lone surrogate"),
        (
            MessageContent("s", None, "t", headers=(("Bcc", "x@example.com"),)),
            "Bcc is set by mailqueue",
        ),
    ],
)
def test_a_content_that_cannot_become_a_message_is_refused(
    content: MessageContent, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        compile_skeleton(content)


def test_a_lone_address_needs_no_name() -> None:
    nameless = Mailbox("", parse_address("ann@example.net"))

    assert b"\r\nTo: ann@example.net\r\n" in composed(MessageContent("s", None, "t"), to=[nameless])
