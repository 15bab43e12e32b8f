"""The outcome of each verdict: the whole table, then messages to several recipients."""

from datetime import timedelta
from typing import Any

import pytest

from mailqueue.core.verdict import Accepted, AllRefused, Fault, Refused, Rejected, Stage
from mailqueue.mail.model import Ending, LogStatus, RecipientOutcome, SendOutcome
from mailqueue.mail.send.outcomes import (
    LIMIT_WAIT,
    MAX_POLICY_ATTEMPTS,
    RESEND_WAIT,
    account_failure_of,
    outcome_of,
)
from tests.mail.claims import attempt

NO_STAGE_OF_ITS_OWN = (Stage.MAIL, Stage.RCPT, Stage.DATA, Stage.DOT)

# Kind and stage to (ending, log, wait).
EARLY = (Ending.DEFER, None, None)
AGAIN = (Ending.RETRY, LogStatus.DEFERRED, None)  # the schedule says when
TABLE = {
    (Fault.TRANSIENT, Stage.CONNECT): EARLY,
    (Fault.ACCOUNT, Stage.CONNECT): EARLY,
    (Fault.INFRASTRUCTURE, Stage.CONNECT): AGAIN,
    (Fault.UNRECOGNIZED, Stage.CONNECT): AGAIN,
    (Fault.RATE_LIMITED, Stage.CONNECT): (Ending.DEFER, LogStatus.DEFERRED, LIMIT_WAIT),
    (Fault.AMBIGUOUS, Stage.CONNECT): (Ending.UNKNOWN, LogStatus.UNKNOWN, RESEND_WAIT),
    (Fault.PERMANENT_RECIPIENT, Stage.CONNECT): (Ending.FAILED, LogStatus.BOUNCED, None),
    (Fault.PERMANENT_MESSAGE, Stage.CONNECT): (Ending.FAILED, LogStatus.REJECTED, None),
    **{
        (kind, stage): expected
        for stage in NO_STAGE_OF_ITS_OWN
        for kind, expected in {
            Fault.TRANSIENT: AGAIN,
            Fault.RATE_LIMITED: (Ending.DEFER, LogStatus.DEFERRED, LIMIT_WAIT),
            Fault.AMBIGUOUS: (Ending.UNKNOWN, LogStatus.UNKNOWN, RESEND_WAIT),
            Fault.PERMANENT_RECIPIENT: (Ending.FAILED, LogStatus.BOUNCED, None),
            Fault.PERMANENT_MESSAGE: (Ending.FAILED, LogStatus.REJECTED, None),
            Fault.ACCOUNT: AGAIN,
            Fault.INFRASTRUCTURE: AGAIN,
            Fault.UNRECOGNIZED: AGAIN,
        }.items()
    },
}


def no(kind: Fault, stage: Stage = Stage.RCPT, code: str = "550", **more: Any) -> Rejected:
    return Rejected(kind, code, "no", stage, **more)


def judged(verdict: Accepted | Rejected | AllRefused, *addresses: str, **of: Any) -> SendOutcome:
    return outcome_of(attempt(*addresses, **of), verdict, 12)


def test_the_table_names_every_kind_at_every_stage() -> None:
    assert set(TABLE) == {(kind, stage) for kind in Fault for stage in Stage}


@pytest.mark.parametrize(("kind", "stage"), TABLE)
def test_each_refusal_has_one_ending(kind: Fault, stage: Stage) -> None:
    done = judged(no(kind, stage))

    assert (done.ending, done.log, done.wait) == TABLE[kind, stage]
    assert done.reason == "no"


def test_only_mail_that_may_have_been_sent_counts_against_the_limits() -> None:
    """Limit."""
    spent = {kind: judged(no(kind, Stage.DOT), "a@example.org", "b@example.org") for kind in Fault}

    assert {kind for kind, done in spent.items() if done.spent} == {Fault.AMBIGUOUS}
    assert spent[Fault.AMBIGUOUS].spent == 2
    assert judged(Accepted("250", "ok")).spent == 1


def test_an_accepted_mail_is_sent_with_the_servers_words() -> None:
    done = judged(Accepted("250", "queued as 1", "2.0.0", "provider-1"))

    assert done.ending is Ending.SENT
    assert (done.log, done.code, done.enhanced, done.reply, done.response_ms) == (
        LogStatus.SENT, "250", "2.0.0", "queued as 1", 12
    )  # fmt: skip
    assert (done.message_id, done.provider_message_id) == ("<1@example.com>", "provider-1")
    assert done.recipients == ()


@pytest.mark.parametrize("hard", [True, False])
def test_only_hard_evidence_is_passed_on_as_such(hard: bool) -> None:
    """Suppress: a full mailbox does not suppress its address forever."""
    assert judged(no(Fault.PERMANENT_RECIPIENT, hard=hard)).hard is hard


def test_refusals_about_us_never_speak_of_the_recipient() -> None:
    """Suppress."""
    about_us = [kind for kind in Fault if kind is not Fault.PERMANENT_RECIPIENT]

    assert not any(judged(no(kind, hard=True)).hard for kind in about_us)


@pytest.mark.parametrize(
    ("kind", "code", "enhanced"),
    [
        (Fault.TRANSIENT, "452", "4.2.2"),
        (Fault.PERMANENT_RECIPIENT, "552", "5.2.2"),
        (Fault.PERMANENT_RECIPIENT, "550", "5.2.1"),
        (Fault.PERMANENT_RECIPIENT, "552", ""),
    ],
)
def test_a_soft_bounce_is_a_bounce_and_tried_again(kind: Fault, code: str, enhanced: str) -> None:
    done = judged(no(kind, code=code, enhanced=enhanced))

    assert (done.ending, done.log, done.wait, done.hard) == (
        Ending.RETRY, LogStatus.BOUNCED, None, False
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "code", "enhanced"),
    [
        (Fault.PERMANENT_RECIPIENT, "550", "5.1.1"),
        (Fault.PERMANENT_RECIPIENT, "550", ""),
        (Fault.PERMANENT_MESSAGE, "552", ""),
        (Fault.PERMANENT_MESSAGE, "552", "5.3.4"),
    ],
)
def test_other_permanent_refusals_end_the_mail(kind: Fault, code: str, enhanced: str) -> None:
    assert judged(no(kind, code=code, enhanced=enhanced)).ending is Ending.FAILED


def test_hard_evidence_is_never_soft() -> None:
    evidence = no(Fault.PERMANENT_RECIPIENT, code="552", enhanced="5.2.1", hard=True)

    assert judged(evidence).ending is Ending.FAILED


def test_a_recipient_that_comes_back_soon_does_not_wait_for_a_full_mailbox() -> None:
    full = Refused("a@example.org", no(Fault.PERMANENT_RECIPIENT, enhanced="5.2.2"))
    busy = Refused("b@example.org", no(Fault.TRANSIENT, code="451"))

    done = judged(AllRefused((full, busy)), "a@example.org", "b@example.org")

    assert (done.ending, done.log, done.left) == (Ending.RETRY, LogStatus.DEFERRED, 2)
    assert judged(AllRefused((full, full)), "a@example.org", "c@example.org").log == "bounced"


def test_a_wait_the_server_asks_for_is_a_least_one() -> None:
    asked = timedelta(minutes=10)

    assert judged(no(Fault.TRANSIENT, retry_after=asked)).wait == asked


@pytest.mark.parametrize("kind", [Fault.ACCOUNT, Fault.INFRASTRUCTURE])
def test_a_permanent_refusal_about_us_is_not_tried_for_days(kind: Fault) -> None:
    last = judged(no(kind, code="550"), number=MAX_POLICY_ATTEMPTS)
    before = judged(no(kind, code="550"), number=MAX_POLICY_ATTEMPTS - 1)
    temporary = judged(no(kind, code="421"), number=MAX_POLICY_ATTEMPTS)

    assert (last.ending, last.log, last.wait) == (Ending.FAILED, LogStatus.REJECTED, None)
    assert before.ending is temporary.ending is Ending.RETRY


def test_recipients_refused_for_good_fail_alone() -> None:
    refused = Refused("b@example.org", no(Fault.PERMANENT_RECIPIENT, enhanced="5.1.1", hard=True))

    done = judged(Accepted("250", "ok", refused=(refused,)), "a@example.org", "b@example.org")

    assert (done.ending, done.spent, done.left, done.hard) == (Ending.SENT, 1, None, False)
    assert done.recipients == (
        RecipientOutcome("a@example.org", "sent", None, None, hard=False),
        RecipientOutcome("b@example.org", "failed", "no", "5.1.1", hard=True),
    )


def test_recipients_refused_for_now_are_the_only_ones_tried_again() -> None:
    later = Refused("b@example.org", no(Fault.TRANSIENT, code="451"))

    done = judged(
        Accepted("250", "ok", refused=(later,)), "a@example.org", "b@example.org", "c@example.org"
    )

    assert (done.ending, done.wait, done.left, done.spent) == (Ending.RETRY, None, 1, 2)
    assert [(one.address, one.status) for one in done.recipients] == [
        ("a@example.org", "sent"),
        ("c@example.org", "sent"),
    ]
    assert done.reason == "b@example.org: no"


def test_a_message_all_of_whose_recipients_fail_has_failed() -> None:
    refused = tuple(
        Refused(f"{name}@example.org", no(Fault.PERMANENT_RECIPIENT, hard=name == "a"))
        for name in "ab"
    )

    done = judged(AllRefused(refused), "a@example.org", "b@example.org")

    assert (done.ending, done.wait, done.left, done.spent) == (Ending.FAILED, None, None, 0)
    assert done.hard is False  # the recipients carry the evidence themselves
    assert [(one.status, one.hard) for one in done.recipients] == [
        ("failed", True),
        ("failed", False),
    ]


def test_a_message_with_a_recipient_refused_for_now_waits_for_that_one() -> None:
    refused = (
        Refused("a@example.org", no(Fault.PERMANENT_RECIPIENT)),
        Refused("b@example.org", no(Fault.TRANSIENT, code="450")),
    )

    done = judged(AllRefused(refused), "a@example.org", "b@example.org")

    assert (done.ending, done.wait, done.left) == (Ending.RETRY, None, 1)
    assert [one.address for one in done.recipients] == ["a@example.org"]


def test_the_fence_is_passed_on() -> None:
    """Fence: the outcome names the claim under which it was reached."""
    mail = attempt()._replace(claim_no=99)

    done = outcome_of(mail, Accepted("250", "ok"), 1)

    assert (done.id, done.claim_no) == (mail.email_id, 99)


@pytest.mark.parametrize("verdict", [Accepted("250", "ok"), no(Fault.TRANSIENT, code="451")])
def test_a_recipient_stopped_at_the_last_look_is_recorded_so(
    verdict: Accepted | Rejected,
) -> None:
    """Suppress: a recipient who was left out of the envelope is not recorded as sent to."""
    mail = attempt("a@example.org")._replace(has_several=True, suppressed=("b@example.org",))

    done = outcome_of(mail, verdict, 1)

    assert done.recipients[-1] == RecipientOutcome(
        "b@example.org", "suppressed", None, None, hard=False
    )


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("kind", list(Fault))
def test_the_account_is_blamed_for_what_is_its_own_or_its_servers(
    kind: Fault, stage: Stage
) -> None:
    """Suppress: a reply about a recipient is never the account's fault."""
    ours = {Fault.AMBIGUOUS, Fault.ACCOUNT, Fault.INFRASTRUCTURE, Fault.UNRECOGNIZED}
    if stage is not Stage.RCPT:
        ours.add(Fault.TRANSIENT)

    blame = account_failure_of(no(kind, stage))

    assert (blame is not None) == (stage is not Stage.CONNECT and kind in ours)


def test_of_several_refusals_the_one_about_us_is_blamed() -> None:
    listed = Refused("bo@example.org", no(Fault.INFRASTRUCTURE))
    gone = Refused("ann@example.com", no(Fault.PERMANENT_RECIPIENT))

    assert account_failure_of(AllRefused((gone, listed))) == listed
    assert account_failure_of(AllRefused((gone,))) is None
    assert account_failure_of(Accepted("250", "ok", refused=(listed,))) is None
