"""Delivery status notifications in all their forms, read for each recipient."""

import pytest

from mailqueue.inbound.bounces.model import BounceKind, Fate
from mailqueue.inbound.bounces.reading import read_bounce

COPY = """Received: from app.example.org by mx.example.org; Fri, 02 Jan 2026 03:04:05 +0000
From: Shop <shop@example.org>
To: ann@example.com
Message-ID: <m1@example.org>
Subject: Your order

Hello
"""

DSN = """From: MAILER-DAEMON@mx.example.com
Subject: Delivery Status Notification (Failure)
MIME-Version: 1.0
Content-Type: multipart/report; report-type={report}; boundary="b"

--b
Content-Type: text/plain

{text}

--b
Content-Type: {kind}

{fields}

--b
Content-Type: {copied}

{copy}
--b--
"""


def dsn(
    fields: str,
    *,
    text: str = "failed",
    kind: str = "message/delivery-status",
    copied: str = "message/rfc822",
) -> bytes:
    return DSN.format(
        fields=fields, text=text, kind=kind, copied=copied, copy=COPY, report="delivery-status"
    ).encode()


@pytest.mark.parametrize(
    ("fields", "who", "fate", "code"),
    [
        ("Final-Recipient: RFC822; ann@example.com\nAction: failed\nStatus: 5.1.1",
         "ann@example.com", Fate.HARD, "5.1.1"),
        ("FINAL-RECIPIENT: rfc822;<ann@example.com>\nACTION: Failed\nSTATUS: 5.1.1 (unknown)",
         "ann@example.com", Fate.HARD, "5.1.1"),
        ("Final-Recipient: rfc822;\n  ann@example.com\nAction: failed\nStatus: 5.0.0\n"
         "Diagnostic-Code: smtp; 550 5.1.1\n <ann@example.com> unknown", "ann@example.com",
         Fate.HARD, "5.1.1"),
        ("Original-Recipient: rfc822;ann@example.com\nAction: failed\nStatus: 5.2.2",
         "ann@example.com", Fate.SOFT, "5.2.2"),
        ("Final-Recipient: utf-8; \\x{E4}nn@example.com\nAction: failed\nStatus: 5.1.1",
         "änn@example.com", Fate.HARD, "5.1.1"),
        ("Final-Recipient: utf-8; jürgen@bücher.example\nAction: failed\nStatus: 5.6.7",
         "jürgen@bücher.example", Fate.POLICY, "5.6.7"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 4.4.7",
         "ann@example.com", Fate.SOFT, "4.4.7"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: delayed\nStatus: 4.4.1\n"
         "Will-Retry-Until: Fri, 2 Jan 2026 03:04:05 +0000", "ann@example.com", Fate.DELAYED,
         "4.4.1"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.1.1\n"
         "Diagnostic-Code: smtp; 550 5.7.1 IP address blocked by blacklist", "ann@example.com",
         Fate.POLICY, "5.7.1"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.1.1\n"
         "Diagnostic-Code: smtp; 552 5.2.2 Mailbox full", "ann@example.com", Fate.SOFT, "5.2.2"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.5.0\n"
         "Diagnostic-Code: smtp; 550 Requested action not taken: mailbox unavailable",
         "ann@example.com", Fate.HARD, "5.5.0"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.4.1\n"
         "Diagnostic-Code: smtp; 550 5.4.1 Recipient address rejected: Access denied.",
         "ann@example.com", Fate.HARD, "5.4.1"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.0.0\n"
         "Diagnostic-Code: smtp; 550 User unknown (in reply to end of DATA command)",
         "ann@example.com", Fate.SOFT, "5.0.0"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.1.8\n"
         "Diagnostic-Code: smtp; 553 5.1.8 Sender domain does not exist", "ann@example.com",
         Fate.POLICY, "5.1.8"),
        ("Final-Recipient: rfc822; ann@example.com\nAction: expired\nStatus: \n"
         "Diagnostic-Code: Connection timed out", "ann@example.com", Fate.SOFT, ""),
        ("Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.7.1\n"
         "Diagnostic-Code: smtp; 550 5.7.1 User unknown", "ann@example.com", Fate.HARD, "5.7.1"),
    ],
    ids=range(16),
)  # fmt: skip
def test_reports(fields: str, who: str, fate: Fate, code: str) -> None:
    reading = read_bounce(dsn(f"Reporting-MTA: dns; mx.example.com\n\n{fields}"))

    assert reading.kind is BounceKind.REPORT
    [told] = reading.recipients
    assert (told.recipient, told.reason.fate, told.reason.code) == (who, fate, code)
    assert reading.returned.message_id == "<m1@example.org>"
    assert reading.reporter == "mx.example.com"


@pytest.mark.parametrize("kind", ["message/delivery-status", "message/global-delivery-status"])
@pytest.mark.parametrize(
    "copied",
    ["message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers"],
)
def test_all_types_a_report_may_have(kind: str, copied: str) -> None:
    fields = "Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.1.1"

    reading = read_bounce(dsn(fields, kind=kind, copied=copied))

    assert [one.recipient for one in reading.recipients] == ["ann@example.com"]
    assert reading.returned.message_id == "<m1@example.org>"


def test_recipients_without_a_blank_line_between_them_are_several() -> None:
    two = "".join(
        f"Final-Recipient: rfc822; {name}@example.com\nAction: failed\nStatus: 5.1.1\n"
        for name in ("ann", "bob")
    )

    reading = read_bounce(dsn(f"Reporting-MTA: dns; x\n\n{two}"))

    assert [one.recipient for one in reading.recipients] == ["ann@example.com", "bob@example.com"]


def test_a_report_inside_the_mail_that_came_back_is_not_of_it() -> None:
    """The returned mail may contain a report; only the server's own fields count."""
    inner = dsn("Final-Recipient: rfc822; victim@example.com\nAction: failed\nStatus: 5.1.1")
    fields = "Final-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 4.2.2"
    raw = dsn(fields).replace(COPY.encode(), inner)

    assert [one.recipient for one in read_bounce(raw).recipients] == ["ann@example.com"]


def test_an_answer_that_an_address_is_deliverable_is_no_event() -> None:
    fields = "Final-Recipient: rfc822; ann@example.com\nAction: deliverable\nStatus: 2.1.5"

    assert read_bounce(dsn(fields)).recipients == ()


def test_words_for_people_that_are_called_a_report_do_not_hide_the_report() -> None:
    raw = dsn("Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; ann@example.com\n"
              "Action: failed\nStatus: 5.1.1").decode()  # fmt: skip
    raw = raw.replace("Content-Type: text/plain", "Content-Type: message/delivery-status")

    reading = read_bounce(raw.encode())

    assert reading.kind is BounceKind.REPORT
    [told] = reading.recipients
    assert (told.recipient, told.reason.fate) == ("ann@example.com", Fate.HARD)


PASTED = b"""From: Bob <bob@example.net>
To: shop@example.org
Subject: Re: Your order

This is what I got, so write to him elsewhere:

Final-Recipient: rfc822; ann@example.com
Action: failed
Status: 5.1.1
"""


def test_what_a_person_pasted_is_no_report() -> None:
    assert read_bounce(PASTED).recipients == ()
    assert read_bounce(PASTED, is_null_sender=True).kind is BounceKind.REPORT


def test_a_report_that_a_person_forwards_is_not_of_who_forwards_it() -> None:
    report = dsn("Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; ann@example.com\n"
                 "Action: failed\nStatus: 5.1.1")  # fmt: skip
    forwarded = (
        b"From: Bob <bob@example.net>\nTo: shop@example.org\nSubject: Fwd: Delivery failure\n"
        b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="o"\n\n'
        b"--o\nContent-Type: text/plain\n\nSee below.\n"
        b"--o\nContent-Type: message/rfc822\n\n" + report + b"\n--o--\n"
    )

    reading = read_bounce(forwarded)

    assert (reading.kind, reading.recipients) == (BounceKind.OTHER, ())
