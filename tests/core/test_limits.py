"""Limits named in the text of a refusal: one table for SMTP and HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.core.limits import limit_in, named_wait, refusal_of, says_closed

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
QUOTAS = (
    "Domain mg.example.com is not allowed to send: recipient limit exceeded, try again later",
    "Access denied, your message has exceeded the daily limit for message recipients",
    "Daily message quota exceeded",
    "STOREDRV.Submission.Exception:SubmissionQuotaExceededException; Failed, mailbox x",
    "limit of 300 messages per day reached",
    "Maximum credits exceeded",
    "dailyLimitExceeded: Daily Limit Exceeded",
    "quotaExceeded: Quota exceeded for quota metric 'Mail sent'",
    "You have reached your monthly sending limit",
)
RATES = (
    "Too many bad requests. Temporary block",
    "userRateLimitExceeded: User-rate limit exceeded.",
    "Too many requests",
    "API key ratelimit exceeded",
    "Maximum sending rate exceeded.",
    "Error: too many connections from 192.0.2.1",
    "4.7.0 Too many concurrent SMTP connections; please try again later",
)
NEITHER = (
    "",
    "Qapla'",
    "Mailbox full, quota exceeded",
    "The recipient's inbox is over quota",
    "the user you are trying to contact is over the rate limit",
    "host mx.example.org said: 550 Daily message quota exceeded",
    "message size exceeds fixed limit",
    "Too many recipients, limit exceeded",
    "greylisted, slow down",
    "separate the daily news from corporate policy",
)


@pytest.mark.parametrize("words", QUOTAS)
def test_words_for_a_quota_are_known(words: str) -> None:
    found = limit_in(words)

    assert found is not None
    assert found.is_quota


@pytest.mark.parametrize("words", RATES)
def test_words_for_a_rate_are_known(words: str) -> None:
    found = limit_in(words)

    assert found is not None
    assert not found.is_quota


@pytest.mark.parametrize("words", NEITHER)
def test_other_words_name_no_limit_of_the_account(words: str) -> None:
    assert limit_in(words) is None


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("try again after Fri, 02 Jan 2026 04:04:05 UTC", 3600),
        ("try again after Fri, 02 Jan 2026 04:04:05 GMT.", 3600),
        ("Retry after 2026-01-02T03:05:05.123Z (Mail sending)", 60),
        ("Retry after 2026-01-02T04:05:05+01:00", 60),
        ("blocked until 2026-01-02 03:05", 55),
        ("try again in 30 seconds", 30),
        ("retry after 5 minutes", 300),
        ("wait 2 hours", 7200),
        ("try again after Fri, 02 Jan 2099 04:04:05 UTC", 86400),
        ("in 9999999 days", 86400),
        ("retry in 0 seconds", 1),
        ("try again after Fri, 02 Jan 2026 02:04:05 UTC", None),  # it is over
        ("try again after Fri, 99 Jan 2026 02:04:05 UTC", None),
        ("try again after Thu, 01 Jan 0001 00:00:00 +1400", None),
        ("Retry after 2026-13-45T99:99:99Z", None),
        ("try again later", None),
        ("", None),
    ],
)
def test_the_time_that_words_name_is_read_and_bounded(words: str, seconds: int | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)

    assert named_wait(words, now=NOW) == expected


@pytest.mark.parametrize(
    ("words", "is_closed"),
    [
        ("Your account has been suspended", True),
        ("Account disabled", True),
        ("Domain mg.example.com is disabled", True),
        ("Sending suspended for this account. For more information", True),
        ("Invalid API key", True),
        ("API key not found", True),
        ("Authentication failed", True),
        ("account under review", False),
        ("recipient account is disabled", False),
        ("The email account that you tried to reach is disabled", False),
        ("invalid token in JSON at 5", False),
        ("unknown key 'x' in body", False),
        ("", False),
    ],
)
def test_only_known_words_say_that_an_account_is_closed(words: str, is_closed: bool) -> None:
    assert says_closed(words) is is_closed


def test_refusals_are_alike_whatever_varies_in_them() -> None:
    first = refusal_of("550", "5.0.0", "No ann@example.org, id 8f-12 at 12:44:01")
    second = refusal_of("550", "5.0.0", "no  bob@example.net, id 9f-13 at 12:44:02")

    assert first == second
    assert refusal_of("550", "", "no") != refusal_of("550", "", "yes")
    assert refusal_of("418", "", "no") == refusal_of("418", "", "yes") == "418"
    assert len(refusal_of("550", "5.0.0", "x " * 1_000_000)) < 300


@pytest.mark.parametrize("piece", ["a", " ", "1", "daily ", "exceeded ", "a@", "in ", "account x "])
def test_a_text_of_any_length_is_read_up_to_a_bound(piece: str) -> None:
    long = piece * (1_000_000 // len(piece))

    assert limit_in(long + " daily quota exceeded") is limit_in(long)
    assert not says_closed(long)
    assert named_wait(long) is None
