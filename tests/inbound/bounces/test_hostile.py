"""Reading any message is bounded in time and raises nothing."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailqueue.inbound.bounces.model import BounceKind
from mailqueue.inbound.bounces.reading import read_bounce
from mailqueue.inbound.bounces.tree import DEFAULT_LIMITS, read_tree
from tests.inbound.bounces.bounce_mail import failed, report

HEAD = "From: MAILER-DAEMON@x.example\nReturn-Path: <>\nSubject: failure notice\n"
RIVAL = "Content-Type: multipart/mixed; boundary=b\n\n"
MANY = 60_000

HOSTILE = {
    "nested in each other": "".join(
        f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(5_000)
    ),
    "one boundary for all": RIVAL + f"--b\n{RIVAL}" * 20_000,
    "messages in messages": "Content-Type: message/rfc822\n\n" * MANY,
    "parts": RIVAL + "--b\n\nx\n" * MANY,
    "headers": "X: y\n" * MANY,
    "folds": "X: y\n" + " z\n" * MANY,
    "parameters": "Content-Type: text/plain; " + "a=b; " * MANY + "\n\nx",
    "a codec that is none": "Content-Type: text/plain; charset=punycode\n\n" + "a-" * MANY,
    "base64": "Content-Transfer-Encoding: base64\n\n" + "A" * MANY,
    "quoted": "Content-Transfer-Encoding: quoted-printable\n\n" + "=" * MANY,
    "blank lines": "\nwas not delivered\n" + "\n" * MANY,
    "addresses": "\nwas not delivered\n" + "<a@b.example>: 550 no\n" * MANY,
    "others": "\nwas not delivered\n" + "".join(f"<a{n}@b.example>: 550\n" for n in range(MANY)),
    "dashes": "\nwas not delivered\n" + "-" * MANY * 4,
    "words": "\nwas not delivered\n" + "user has been has been " * MANY,
    "tags": "Content-Type: text/html\n\n" + "<style>" * MANY,
    "recipients": "Content-Type: message/feedback-report\n\n" + "Final-Recipient:\n" * MANY,
    "named": "X-Failed-Recipients: " + "a@b.example, " * MANY + "\n\nwas not delivered\n",
}


@pytest.mark.deep
@pytest.mark.parametrize("what", HOSTILE)
def test_reading_is_bounded_in_time(what: str) -> None:
    """The limit is generous: each takes less than a second, and minutes without bounds."""
    begun = time.process_time()

    read_bounce((HEAD + HOSTILE[what]).encode())

    assert time.process_time() - begun < 30


def test_ten_thousand_recipients_are_cut() -> None:
    groups = [failed(f"a{number}@example.com") for number in range(10_000)]

    found = read_bounce(report(*groups, text="no\n" * 2_000))

    assert 100 <= len(found.recipients) <= 200


@pytest.mark.parametrize(
    ("raw", "is_complete"),
    [
        (b"Subject: x\n\nhi", True),
        (b"Subject: x\n\n" + b"x" * DEFAULT_LIMITS.message_bytes, False),
        (b"X: y\n" * 1_000 + b"\nhi", False),
        ((RIVAL + "--b\n\nx\n" * 200).encode(), False),
        (b"Content-Type: message/rfc822\n\n" * 20, False),
    ],
)
def test_it_is_said_where_something_was_cut_off(raw: bytes, *, is_complete: bool) -> None:
    assert read_tree(raw).is_complete is is_complete


def test_a_report_behind_what_is_too_large_is_not_read_and_that_is_said() -> None:
    found = read_bounce(report(failed("ann@example.com"), text="x" * DEFAULT_LIMITS.message_bytes))

    assert not found.is_complete
    assert found.kind is not BounceKind.REPORT


_LINES = st.lists(
    st.sampled_from(
        [
            "From: MAILER-DAEMON@x.example",
            "Return-Path: <>",
            "Subject: failure notice",
            "Content-Type: multipart/report; report-type=delivery-status; boundary=b",
            "Content-Type: message/delivery-status",
            "Content-Type: message/rfc822",
            "Content-Type: message/feedback-report",
            "Content-Transfer-Encoding: base64",
            "Final-Recipient: rfc822; ann@example.com",
            "Final-Recipient: utf-8; \\x{110000}\\x{D800}@example.com",
            "Action: failed",
            "Status: 5.1.1",
            "Diagnostic-Code: smtp; 550 5.1.1 user unknown",
            "Feedback-Type: abuse",
            "--b",
            "--b--",
            "",
            "<ann@example.com>:",
            "550 user unknown",
            "\x00\x01",
            " folded",
            "=?utf-8?b?!!!?=",
        ]
    ),
    max_size=30,
)


@settings(max_examples=150)
@given(lines=_LINES, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_lines_are_read(lines: list[str], end: str) -> None:
    found = read_bounce(end.join(lines).encode())

    assert found.recipients or found.kind is not BounceKind.TEXT


@settings(max_examples=100)
@given(raw=st.binary(max_size=400))
def test_any_octets_are_read(raw: bytes) -> None:
    read_bounce(raw)
    read_bounce(b"Content-Type: multipart/report; boundary=b\n\n--b\n" + raw)
