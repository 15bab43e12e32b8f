"""The effect of limits, and of unrecognized replies, on a mail and its account."""

from datetime import timedelta

import pytest

from mailqueue.core.verdict import Accepted, AllRefused, Fault, Refused, Stage
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.mail.send.outcomes import LIMIT_WAIT, halt_of
from tests.mail.send.test_outcomes import judged, no


def test_mail_that_met_a_limit_does_not_wait_as_long_as_its_account() -> None:
    """Another account may send it; and a wait beyond its expiry would fail it."""
    done = judged(no(Fault.RATE_LIMITED, retry_after=timedelta(hours=24)))

    assert (done.ending, done.wait) == (Ending.DEFER, LIMIT_WAIT)


def test_a_limit_met_by_one_recipient_spends_no_attempt_and_fails_no_recipient() -> None:
    gone = Refused("a@example.org", no(Fault.PERMANENT_RECIPIENT, enhanced="5.1.1", hard=True))
    late = Refused("b@example.org", no(Fault.RATE_LIMITED, code="550", enhanced="5.1.90"))
    everyone = ("a@example.org", "b@example.org")

    refused = judged(AllRefused((gone, late)), *everyone)
    taken = judged(Accepted("250", "ok", refused=(late,)), *everyone)

    assert (refused.ending, refused.left) == (Ending.DEFER, 1)
    assert (taken.ending, taken.left, taken.spent) == (Ending.DEFER, 1, 1)
    assert refused.wait == taken.wait == LIMIT_WAIT
    assert [one.address for one in refused.recipients] == ["a@example.org"]
    assert [(one.address, one.status) for one in taken.recipients] == [("a@example.org", "sent")]


def test_an_answer_that_stops_the_account_does_so_whomever_it_concerns() -> None:
    odd = no(Fault.AMBIGUOUS, Stage.DOT, stops=True)
    copy = Refused("b@example.org", no(Fault.PERMANENT_MESSAGE, stops=True))

    assert halt_of(odd) == odd
    assert halt_of(Accepted("200", "ok", refused=(copy,))) == copy.why
    assert halt_of(AllRefused((copy,))) == copy.why
    assert halt_of(Accepted("200", "ok")) is None
    assert halt_of(no(Fault.AMBIGUOUS)) is None


@pytest.mark.parametrize("attempts", [1, 50])
def test_an_unrecognized_refusal_follows_the_schedule_to_its_end(attempts: int) -> None:
    done = judged(no(Fault.UNRECOGNIZED, code="550"), number=attempts)

    assert (done.ending, done.log, done.hard) == (Ending.RETRY, LogStatus.DEFERRED, False)
