"""Counts of rows, and rates that name what they are a part of. Pure."""

from collections.abc import Iterable

from mailqueue.analytics.model import CountsRow
from mailqueue.contract.counts import METRICS, CountRate, CountRates, EmailCounts

BY_REPORTING = "sent by accounts that report deliveries"


def counts_of(rows: Iterable[CountsRow]) -> EmailCounts:
    """Return the sums of rows."""
    found = list(rows)
    return EmailCounts(**{name: sum(getattr(row, name) for row in found) for name in METRICS})


def rates_of(counts: EmailCounts, *, reporting_sent: int) -> CountRates:
    """Return the rates of counts.

    `reporting_sent` is what of `sent` accounts sent that report deliveries; where other accounts
    sent all of it, the delivery rate is unknown.
    """

    def rate(part: int, of: str) -> CountRate:
        whole: int = getattr(counts, of)
        return CountRate(_share(part, whole), part, of, whole)

    return CountRates(
        delivery=CountRate(
            _share(counts.delivered, reporting_sent),
            counts.delivered,
            BY_REPORTING,
            reporting_sent,
            is_known=reporting_sent > 0 or counts.sent == 0,
        ),
        hard_bounce=rate(counts.hard_bounces, "sent"),
        soft_bounce=rate(counts.soft_bounces, "sent"),
        complaint=rate(counts.complaints, "sent"),
        open=rate(counts.unique_opens, "sent"),
        click=rate(counts.unique_clicks, "sent"),
        unsubscribe=rate(counts.unsubscribes, "sent"),
        failure=rate(counts.failed + counts.expired, "accepted"),
    )


def _share(part: int, whole: int) -> float | None:
    """Return a share, None of nothing.

    Events come after the email was sent, so that a short span may have more of them than emails.
    """
    return round(part / whole, 6) if whole else None
