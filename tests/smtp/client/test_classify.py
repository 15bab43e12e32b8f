"""What a refusal concerns: one table of cases for every rule."""

import pytest

from mailqueue.core.verdict import Fault, Stage
from mailqueue.smtp.client.classify import GREYLISTED, OpeningStep, classify, classify_opening
from mailqueue.smtp.client.replies import enhanced_code

HARD = "hard"
RCPT, MAIL, DATA, DOT = Stage.RCPT, Stage.MAIL, Stage.DATA, Stage.DOT
GONE, SOFT = HARD, Fault.PERMANENT_RECIPIENT
LATER, FAST = Fault.TRANSIENT, Fault.RATE_LIMITED
BAD, OURS, STANDING = Fault.PERMANENT_MESSAGE, Fault.ACCOUNT, Fault.INFRASTRUCTURE
OPEN = Fault.UNRECOGNIZED

CASES = [
    # RCPT, by enhanced code
    (RCPT, 550, "5.1.1 user unknown", GONE),
    (RCPT, 550, "5.1.2 bad destination system", GONE),
    (RCPT, 550, "5.1.2 DNS lookup failed, try again", SOFT),
    (RCPT, 553, "5.1.3 bad syntax", GONE),
    (RCPT, 553, "5.1.4 ambiguous", GONE),
    (RCPT, 556, "5.1.10 null MX", GONE),
    (RCPT, 550, "5.7.17 new owner", GONE),
    (RCPT, 550, "5.7.18 new owner of the domain", GONE),
    (RCPT, 550, "5.1.0 other", SOFT),
    (RCPT, 550, "5.1.5 odd", SOFT),
    (RCPT, 550, "5.1.6 moved", SOFT),
    (RCPT, 550, "5.1.9 odd", SOFT),
    (RCPT, 550, "5.2.1 disabled", SOFT),
    (RCPT, 550, "5.7.13 account disabled", SOFT),
    (RCPT, 552, "5.2.2 mailbox full", SOFT),
    (RCPT, 550, "5.2.4 list expansion", SOFT),
    (RCPT, 550, "5.2.3 too large for this mailbox", BAD),
    (RCPT, 550, "5.1.7 bad sender syntax", BAD),
    (RCPT, 550, "5.1.8 bad sender domain", OURS),
    (RCPT, 550, "5.7.27 sender has null MX", OURS),
    (RCPT, 550, "5.3.0 system trouble", LATER),
    (RCPT, 550, "5.3.2 not accepting", LATER),
    (RCPT, 550, "5.3.4 too big", BAD),
    (RCPT, 550, "5.4.1 no answer from host", LATER),
    (RCPT, 550, "5.4.4 unable to route", LATER),
    (RCPT, 550, "5.4.6 loop", LATER),
    (RCPT, 550, "5.4.7 expired", SOFT),
    (RCPT, 550, "5.5.3 too many recipients", LATER),
    (RCPT, 503, "5.5.1 bad sequence", BAD),
    (RCPT, 553, "5.6.7 no SMTPUTF8", BAD),
    (RCPT, 550, "5.7.0 policy", STANDING),
    (RCPT, 554, "5.7.1 blocked by list.example", STANDING),
    (RCPT, 550, "5.7.1 relaying denied", STANDING),
    (RCPT, 535, "5.7.8 who are you", OURS),
    (RCPT, 530, "5.7.9 mechanism", OURS),
    (RCPT, 550, "5.7.20 no DKIM", STANDING),
    (RCPT, 550, "5.7.23 SPF", STANDING),
    (RCPT, 550, "5.7.25 reverse DNS", STANDING),
    (RCPT, 550, "5.7.26 DMARC", STANDING),
    (RCPT, 550, "5.7.28 mail flood", FAST),
    (RCPT, 550, "5.7.38 mail flood", FAST),
    (RCPT, 550, "5.7.30 REQUIRETLS", BAD),
    # RCPT, by text where there is no enhanced code; soft wins
    (RCPT, 550, "User unknown in table", GONE),
    (RCPT, 551, "No such user here", GONE),
    (RCPT, 550, "mailbox does not exist", GONE),
    (RCPT, 550, "Unknown recipient", GONE),
    (RCPT, 550, "Requested action not taken: mailbox unavailable", GONE),
    (RCPT, 553, "mailbox unavailable", SOFT),
    (RCPT, 554, "user unknown", GONE),
    (RCPT, 552, "user unknown", SOFT),
    (RCPT, 550, "no such user, or spam from you", STANDING),
    (RCPT, 550, "mailbox unavailable: policy restrictions", STANDING),
    (RCPT, 550, "your host is listed in bl.example", STANDING),
    (RCPT, 550, "SPF check failed", STANDING),
    (RCPT, 554, "rate exceeded", FAST),
    (RCPT, 550, "Recipient address rejected: undeliverable", SOFT),
    (RCPT, 554, "Relay access denied", STANDING),
    # RCPT, in words of no table
    (RCPT, 550, "corporate mailbox sorted by integrated filter", OPEN),
    (RCPT, 550, "", OPEN),
    (RCPT, 550, "Qapla'", OPEN),
    (RCPT, 550, "5.1.77 Qapla'", OPEN),
    (RCPT, 550, "5.0.0 Qapla'", OPEN),
    (RCPT, 577, "user unknown", OPEN),
    # RCPT, by code alone
    (RCPT, 521, "takes no mail", SOFT),
    (RCPT, 525, "disabled", SOFT),
    (RCPT, 530, "authenticate first", OURS),
    (RCPT, 552, "too many recipients", LATER),
    (RCPT, 552, "over quota", SOFT),
    (RCPT, 555, "parameter not known", BAD),
    (RCPT, 501, "syntax", BAD),
    # Class 4 is never permanent
    (RCPT, 450, "4.1.1 unverified address", LATER),
    (RCPT, 451, "4.3.0 trouble", LATER),
    (RCPT, 452, "4.5.3 too many recipients", LATER),
    (RCPT, 452, "4.2.2 mailbox full", LATER),
    (RCPT, 421, "4.7.28 slow down", FAST),
    (RCPT, 451, "4.7.26 unauthenticated", STANDING),
    (RCPT, 451, "4.7.1 blocked using bl.example", STANDING),
    (RCPT, 450, "user unknown", LATER),
    # MAIL
    (MAIL, 451, "4.3.0 later", LATER),
    (MAIL, 450, "4.7.0 rate limit exceeded", FAST),
    (MAIL, 421, "too many messages", FAST),
    (MAIL, 451, "4.7.28 flood", FAST),
    (MAIL, 553, "5.7.1 sender not owned by user", OURS),
    (MAIL, 550, "5.1.8 no such domain", OURS),
    (MAIL, 550, "", OPEN),
    (MAIL, 554, "5.0.0 Qapla'", OPEN),
    (MAIL, 550, "not authorized to send", OURS),
    (MAIL, 552, "5.2.2 quota of the sender", OURS),
    (MAIL, 530, "5.7.0 authentication required", OURS),
    (MAIL, 550, "5.1.1 user unknown", OURS),
    (MAIL, 552, "too large", BAD),
    (MAIL, 552, "5.3.4 too large", BAD),
    (MAIL, 550, "5.6.7 utf8", BAD),
    (MAIL, 501, "5.1.7 syntax", BAD),
    (MAIL, 554, "5.7.1 blocked using bl.example", STANDING),
    (MAIL, 550, "5.7.26 unauthenticated", STANDING),
    (MAIL, 550, "5.7.28 flood", FAST),
    # DATA and the final dot
    (DATA, 451, "4.3.0 later", LATER),
    (DATA, 452, "4.3.1 disk full", LATER),
    (DATA, 554, "", OPEN),
    (DATA, 503, "bad sequence", BAD),
    (DOT, 451, "4.7.1 try again", LATER),
    (DOT, 554, "", OPEN),
    (DOT, 554, "5.2.99 Qapla'", OPEN),
    (DOT, 554, "message rejected as spam", BAD),
    (DOT, 552, "too much", BAD),
    (DOT, 550, "user unknown", BAD),
    (DOT, 552, "5.3.4 too large", BAD),
    (DOT, 554, "5.6.0 broken MIME", BAD),
    (DOT, 550, "5.1.1 user unknown", GONE),
    (DOT, 552, "5.2.2 full", SOFT),
    (DOT, 550, "5.7.17 new owner", BAD),
    (DOT, 550, "5.7.1 spam", STANDING),
    (DOT, 550, "5.7.26 DMARC", STANDING),
    (DOT, 550, "5.7.28 flood", FAST),
    (DOT, 550, "5.1.8 sender domain", OURS),
]


@pytest.mark.parametrize(("stage", "code", "text", "expected"), CASES)
def test_a_refusal_concerns(stage: Stage, code: int, text: str, expected: Fault | str) -> None:
    found = classify(stage, code, enhanced_code(code, text), text, recipients=1)

    assert (HARD if found.hard else found.kind) == expected
    assert (found.stage, found.code, found.detail) == (stage, str(code), text)
    assert not found.hard or found.kind is Fault.PERMANENT_RECIPIENT


@pytest.mark.parametrize("text", ["5.1.1 user unknown", "5.2.2 full", "5.1.2 no such host"])
def test_a_refusal_of_an_address_after_the_body_of_several_names_no_recipient(text: str) -> None:
    found = classify(Stage.DOT, 550, text[:5], text, recipients=2)

    assert (found.kind, found.hard) == (Fault.PERMANENT_MESSAGE, False)


@pytest.mark.parametrize(
    ("code", "enhanced", "text", "waits"),
    [
        (450, "4.7.1", "please come back", True),
        (451, "4.7.1", "please come back", True),
        (450, "4.2.0", "greylisted", True),
        (451, "", "Greylisting in action", True),
        (451, "", "grey-listed", True),
        (452, "4.7.1", "x", False),
        (450, "4.2.2", "full", False),
        (451, "", "trouble", False),
    ],
)
def test_greylisting_is_given_five_minutes(
    code: int, enhanced: str, text: str, waits: bool
) -> None:
    found = classify(Stage.RCPT, code, enhanced, text, recipients=1)

    assert found.retry_after == (GREYLISTED if waits else None)
    assert found.kind is Fault.TRANSIENT


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("code", [421, 450, 451, 452, 454, 455])
@pytest.mark.parametrize("enhanced", ["", "4.1.1", "4.1.10", "4.7.17", "4.2.1", "4.0.0"])
def test_class_four_never_counts_against_an_address(stage: Stage, code: int, enhanced: str) -> None:
    found = classify(stage, code, enhanced, "user unknown does not exist", recipients=1)

    assert found.kind is Fault.TRANSIENT
    assert not found.hard


@pytest.mark.parametrize(
    ("step", "code", "kind"),
    [
        (OpeningStep.GREETING, 421, LATER),
        (OpeningStep.GREETING, 554, LATER),
        (OpeningStep.HELLO, 421, LATER),
        (OpeningStep.HELLO, 550, LATER),
        (OpeningStep.STARTTLS, 454, LATER),
        (OpeningStep.STARTTLS, 502, LATER),
        (OpeningStep.AUTH, 454, LATER),
        (OpeningStep.AUTH, 432, OURS),
        (OpeningStep.AUTH, 535, OURS),
        (OpeningStep.AUTH, 534, OURS),
        (OpeningStep.AUTH, 530, OURS),
        (OpeningStep.AUTH, 538, OURS),
        (OpeningStep.AUTH, 504, OURS),
        (OpeningStep.AUTH, 550, LATER),
        (OpeningStep.AUTH, 421, LATER),
    ],
)
def test_a_refusal_before_mail_concerns_the_account_or_passes(
    step: OpeningStep, code: int, kind: Fault
) -> None:
    found = classify_opening(step, code, "", "no")

    assert (found.kind, found.stage, found.hard) == (kind, Stage.CONNECT, False)


LIMITS = [
    (RCPT, 550, "5.1.90 Your message can't be sent: you have reached your daily limit", True),
    (DOT, 550, "5.1.90 the sender exceeded the daily limit for message recipients", True),
    (RCPT, 550, "Daily message quota exceeded", True),
    (DOT, 550, "5.4.5 Daily user sending limit exceeded", True),
    (
        DOT,
        554,
        "5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; mailbox",
        True,
    ),
    (RCPT, 554, "5.7.1 limit of 300 messages per day reached", True),
    (DOT, 454, "Daily message quota exceeded.", True),
    (MAIL, 550, "5.7.0 hourly sending limit of this account", True),
    (DOT, 454, "Throttling failure: Maximum sending rate exceeded.", False),
    (RCPT, 450, "4.7.1 Error: too much mail from 192.0.2.1", False),
    (RCPT, 452, "4.7.1 Error: too many recipients from 192.0.2.1", False),
    (MAIL, 421, "4.7.0 Error: too many connections from 192.0.2.1", False),
    (DATA, 421, "4.7.0 Our system has detected an unusual rate of mail from you", False),
    (RCPT, 554, "5.7.1 Rate limit exceeded, slow down", False),
]
OF_OTHERS = [
    (RCPT, 452, "4.2.2 The email account that you tried to reach is over quota", LATER),
    (RCPT, 552, "5.2.2 quota exceeded", SOFT),
    (RCPT, 550, "5.2.1 the user you are trying to contact receives mail at a rate limit", SOFT),
    (RCPT, 450, "4.1.1 host mx.example said: 550 Daily message quota exceeded", LATER),
    (RCPT, 452, "4.5.3 recipient limit exceeded", LATER),
    (RCPT, 452, "Too many recipients: limit exceeded", LATER),
    (DOT, 552, "5.3.4 message size limit exceeded", BAD),
    (DOT, 552, "message size exceeds limit", BAD),
    (RCPT, 550, "mailbox full, quota exceeded", SOFT),
]


@pytest.mark.parametrize(("stage", "code", "text", "is_quota"), LIMITS)
def test_a_limit_of_the_account_pauses_it_and_bounces_no_recipient(
    stage: Stage, code: int, text: str, is_quota: bool
) -> None:
    found = classify(stage, code, enhanced_code(code, text), text, recipients=1)

    assert (found.kind, found.is_quota, found.hard) == (FAST, is_quota, False)


@pytest.mark.parametrize(("stage", "code", "text", "expected"), OF_OTHERS)
def test_the_limit_of_a_mailbox_or_a_message_is_not_the_accounts(
    stage: Stage, code: int, text: str, expected: Fault
) -> None:
    found = classify(stage, code, enhanced_code(code, text), text, recipients=1)

    assert found.kind is expected


@pytest.mark.parametrize("step", list(OpeningStep))
def test_a_limit_met_while_opening_suspends_nothing(step: OpeningStep) -> None:
    for code, text in ((535, "too many failed login attempts"), (550, "daily limit reached")):
        assert classify_opening(step, code, "", text).kind is FAST


@pytest.mark.parametrize("step", [OpeningStep.HELLO, OpeningStep.AUTH])
def test_an_account_that_is_said_to_be_closed_is_suspended(step: OpeningStep) -> None:
    found = classify_opening(step, 550, "", "Your account has been suspended")

    assert found.kind is OURS
