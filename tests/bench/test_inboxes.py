"""Mail of watched inboxes reaches Slack once although workers are killed, and faults are found."""

import pytest

from bench.inboxes import Watch, watch_inboxes
from bench.mailboxes import ArrivingMail, Posted
from bench.notified import Row, compare
from mailqueue.settings.environment import DatabaseSettings

ONE, TWO = ("C1", "Mail 1"), ("C1", "Mail 2")


def row(
    number: int, subject: str, status: str, *, kind: str = "mail", summary: int | None = None
) -> Row:
    return Row(str(number), "C1", kind, status, subject, None if summary is None else str(summary))


def posted(*texts: str) -> Posted:
    return Posted([("C1", text, "") for text in texts])


def test_what_was_posted_once_or_told_in_one_summary_or_is_unknown_is_no_fault() -> None:
    rows = [
        row(1, "Mail 1", "delivered"),
        row(2, "Mail 2", "held"),
        row(3, "Mail 3", "merged", summary=4),
        row(4, "", "delivered", kind="summary"),
    ]
    wanted = {ONE, TWO, ("C1", "Mail 3")}
    for doubtful in ((), ("Bob: Mail 2",)):
        told = posted("Bob: Mail 1", "1 new emails in a minute", *doubtful)
        found = compare(wanted, rows, told)
        assert found.faults == []
    assert (found.single, found.summarized, found.summaries, found.unknown) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("rows", "texts", "fault"),
    [
        ([], (), "has no notification"),
        ([row(1, "Mail 1", "delivered")], (), "Slack got it 0 times"),
        ([row(1, "Mail 1", "delivered")], ("B: Mail 1", "B: Mail 1"), "Slack got it 2 times"),
        ([row(1, "Mail 1", "held")], ("B: Mail 1", "B: Mail 1"), "Slack got it 2 times"),
        ([row(1, "Mail 1", "failed")], (), "is failed"),
        ([row(1, "Mail 1", "delivered"), row(2, "Mail 1", "held")], ("B: Mail 1",), "several"),
        (
            [row(1, "Mail 1", "delivered"), row(2, "Mail 2", "held")],
            ("B: Mail 1",),
            "was not to be notified",
        ),
        ([row(1, "Mail 1", "delivered")], ("B: Mail 1", "B: Mail 9"), "without a notification"),
        ([row(1, "Mail 1", "merged", summary=2)], (), "is in no summary"),
        (
            [row(1, "Mail 1", "merged", summary=2), row(2, "", "delivered", kind="summary")],
            (),
            "misses summaries of [1] mails",
        ),
        (
            [row(1, "Mail 1", "merged", summary=2), row(2, "", "delivered", kind="summary")],
            ("2 new emails in a minute",),
            "misses summaries of [1] mails",
        ),
        (
            [row(1, "Mail 1", "merged", summary=2), row(2, "", "delivered", kind="summary")],
            ("1 new emails in a minute", "B: Mail 1"),
            "Slack got it 1 times",
        ),
        (
            [row(1, "Mail 1", "merged", summary=2), row(2, "", "held", kind="summary")],
            ("1 new emails in a minute", "1 new emails in a minute"),
            "more summaries",
        ),
    ],
)
def test_what_was_lost_or_doubled_is_a_fault(
    rows: list[Row], texts: tuple[str, ...], fault: str
) -> None:
    faults = compare({ONE}, rows, posted(*texts)).faults
    assert any(fault in one for one in faults), faults


@pytest.mark.deep
@pytest.mark.anyio
async def test_killed_workers_lose_and_double_nothing(database: DatabaseSettings) -> None:
    watch = Watch(ArrivingMail(20, 200, 5.0), every=30, kill=3.0, wake=0.5)
    found, figures = await watch_inboxes(database, watch)

    assert found.faults == []
    assert figures["kills"] >= 1
    assert found.single + found.summarized + found.unknown >= len(watch.wanted)


@pytest.mark.soak
@pytest.mark.anyio
async def test_killed_workers_put_what_is_more_than_ten_in_a_minute_into_one_summary(
    database: DatabaseSettings,
) -> None:
    watch = Watch(ArrivingMail(10, 400, 20.0), every=30, kill=4.0, wake=1.0)
    found, _ = await watch_inboxes(database, watch)

    assert found.faults == []
    assert found.summaries >= 10
    assert found.summarized > 100
