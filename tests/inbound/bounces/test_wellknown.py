"""Bounces of well-known servers: the recipient and the meaning of each."""

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

QMAIL = """Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<ann@example.com>:
192.0.2.7 does not like recipient.
Remote host said: {}
Giving up on 192.0.2.7.

--- Below this line is a copy of the message.

"""
EXIM = """This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ann@example.com
    host mx.example.com [192.0.2.7]
    SMTP error from remote mail server after RCPT TO:<ann@example.com>:
    {}

------ This is a copy of the message, including all the headers. ------

"""
POSTFIX = """This is the mail system at host mx.example.net.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

For further assistance, please send mail to postmaster.

                   The mail system

<ann@example.com>: host mx.example.com[192.0.2.7] said: {}
    (in reply to RCPT TO command)

"""
SENDMAIL = """The original message was received at Fri, 2 Jan 2026 03:04:05 GMT
from app.example.org [192.0.2.1]

   ----- The following addresses had permanent fatal errors -----
<ann@example.com>
    (reason: {0})

   ----- Transcript of session follows -----
... while talking to mx.example.com.:
>>> RCPT To:<ann@example.com>
<<< {0}
550 5.1.1 <ann@example.com>... User unknown

   ----- Original message follows -----

"""
EXCHANGE = """Your message did not reach some or all of the intended recipients.

      Subject:  Your order
      Sent:     1/2/2026 3:04 AM

The following recipient(s) could not be reached:

      ann@example.com on 1/2/2026 3:04 AM
            {}
            <mx.example.com #5.1.1>

"""
OFFICE = """Delivery has failed to these recipients or groups:

ann@example.com<mailto:ann@example.com>
{}

Diagnostic information for administrators:

Generating server: mail.example.com

ann@example.com
Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP'

Original message headers:

"""
GMAIL = """Delivery to the following recipient failed permanently:

     ann@example.com

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the server for the recipient
domain example.com by mx.example.com. [192.0.2.7].

The error that the other server returned was:
{}

----- Original message -----

"""
YAHOO = """Sorry, we were unable to deliver your message to the following address.

<ann@example.com>:
Remote host said: {} [RCPT_TO]

--- Below this line is a copy of the message.

"""
DOMINO = """Your message

  Subject: Your order

was not delivered to:

  ann@example.com

because:

  {}

"""
COURIER = """This is a delivery status notification from mx.example.net,
running the Courier mail server, version 0.65.

The original message was received on Fri, 02 Jan 2026 03:04:05 +0000
from shop@example.org

UNDELIVERABLE MAIL
Your message to the following recipients cannot be delivered:

<ann@example.com>:
    mx.example.com [192.0.2.7]:
    <<< {}

"""
GMX = """This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. This is a permanent error. The following address
failed:

"ann@example.com":
SMTP error from remote server after RCPT command:
host: mx.example.com
{}

--- The header of the original message is following. ---

"""
OPENSMTPD = """    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

ann@example.com: {}

    Below is a copy of the original message:

"""
DMA = """This is the DragonFly Mail Agent v0.13 at mx.example.net.

There was an error delivering your mail to <ann@example.com>.

mx.example.com [192.0.2.7] did not like our RCPT TO:
{}

Message headers follow.

"""
IMAIL = """{}: ann@example.com


Original message follows.

"""
GERMAN = """Diese Nachricht wurde automatisch erzeugt.
Ihre Nachricht konnte nicht zugestellt werden an:

  ann@example.com
    {}

"""

LETTERS = {
    "qmail": (QMAIL, "failure notice"),
    "exim": (EXIM, "Mail delivery failed: returning message to sender"),
    "postfix": (POSTFIX, "Undelivered Mail Returned to Sender"),
    "sendmail": (SENDMAIL, "Returned mail: see transcript for details"),
    "exchange": (EXCHANGE, "Undeliverable: Your order"),
    "office": (OFFICE, "Undeliverable: Your order"),
    "gmail": (GMAIL, "Delivery Status Notification (Failure)"),
    "yahoo": (YAHOO, "Failure Notice"),
    "domino": (DOMINO, "DELIVERY FAILURE: User not listed"),
    "courier": (COURIER, "NOTICE: mail delivery status."),
    "gmx": (GMX, "Mail delivery failed: returning message to sender"),
    "opensmtpd": (OPENSMTPD, "Delivery status notification: error"),
    "dma": (DMA, "Mail delivery failed"),
    "imail": (IMAIL, "Undeliverable Mail"),
    "german": (GERMAN, "Unzustellbar: Ihre Bestellung"),
}
WORDS = (
    ("550 5.1.1 <ann@example.com>: Recipient address rejected: User unknown", Fate.HARD),
    ("550 No such user here", Fate.HARD),
    ("550 sorry, no mailbox here by that name", Fate.HARD),
    ("Requested action not taken: mailbox unavailable. [SMTP Error Code 550]", Fate.HARD),
    ("Invalid final delivery userid", Fate.HARD),
    ("L'adresse de messagerie ci-dessus n'existe pas", Fate.HARD),
    ("Le groupe n'existe pas, ou vous ne pouvez pas y poster", Fate.SOFT),
    ("552 5.2.2 <ann@example.com>: Mailbox full", Fate.SOFT),
    ("552 sorry, that mailbox is over quota", Fate.SOFT),
    ("552 5.3.4 Message size exceeds fixed limit", Fate.SOFT),
    ("550 5.2.1 The email account that you tried to reach is disabled", Fate.SOFT),
    ("554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using dnsbl", Fate.POLICY),
    ("550 5.7.1 Message rejected as spam", Fate.POLICY),
    ("550 5.7.26 Unauthenticated email from example.org is not accepted (DMARC)", Fate.POLICY),
    ("554 5.7.1 <ann@example.com>: Relay access denied", Fate.POLICY),
)
HARD_BY_THEMSELVES = ("office", "sendmail", "exchange")  # their own words say so, too


def written(letter: str, said: str, **head: str) -> bytes:
    body, subject = LETTERS[letter]
    fields = {
        "Return-Path": "<>",
        "From": "Mail Delivery System <MAILER-DAEMON@mx.example.net>",
        "To": "shop@example.org",
        "Subject": subject,
    } | head
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"{lines}\n{body.format(said)}{COPY}".encode()


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(("said", "fate"), WORDS, ids=range(len(WORDS)))
def test_who_failed_and_what_it_says_of_the_address(letter: str, said: str, fate: Fate) -> None:
    reading = read_bounce(written(letter, said))

    assert reading.kind is BounceKind.TEXT
    [told] = reading.recipients
    assert told.recipient == "ann@example.com"
    assert reading.returned.message_id == "<m1@example.org>"
    if letter not in HARD_BY_THEMSELVES or fate is Fate.HARD:
        assert told.reason.fate is fate, told


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"], ids=["crlf", "cr", "lf"])
def test_all_ends_of_lines_are_read_alike(letter: str, ends: str) -> None:
    raw = written(letter, "550 5.1.1 User unknown").decode().replace("\n", ends).encode()

    [told] = read_bounce(raw).recipients
    assert (told.recipient, told.reason.fate) == ("ann@example.com", Fate.HARD)


def test_the_header_with_the_failed_recipients_is_believed() -> None:
    raw = written(
        "exim", "550 5.1.1 unknown", **{"X-Failed-Recipients": "ann@example.com, b@x.net"}
    )

    assert {one.recipient for one in read_bounce(raw).recipients} == {"ann@example.com", "b@x.net"}


def test_a_warning_that_it_is_late_is_no_failure() -> None:
    text = "This is a warning message only. You do not need to resend your message.\n" + EXIM
    raw = (
        "From: Mail Delivery System <Mailer-Daemon@mx.example.net>\nReturn-Path: <>\n"
        "Subject: Warning: message 1abc delayed 24 hours\n\n" + text.format("451 try later")
    ).encode()

    assert {one.reason.fate for one in read_bounce(raw).recipients} == {Fate.DELAYED}


def test_what_only_a_pattern_of_the_library_knows_is_a_bounce_too() -> None:
    raw = (
        b"From: MAILER-DAEMON@example.net\nSubject: Processing Error\n\n"
        b"Intended recipient: ann@example.com\n\nThe following mail has been returned because it"
        b" encountered an error\nwhile being processed.\n\n--------RETURNED MAIL FOLLOWS--------\n"
    )

    assert [one.recipient for one in read_bounce(raw).recipients] == ["ann@example.com"]
