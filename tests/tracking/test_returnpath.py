"""Return paths cannot be forged, and each names one mail, one recipient and one day."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.core.address import MAX_LOCAL_BYTES
from mailqueue.tracking.returnpath import is_in_time, is_proved, read_return_path, return_path
from mailqueue.tracking.tokens import Seals, TrackingKey

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MAIL = UUID("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0001")
PROJECT = UUID("0190aaaa-bbbb-7ccc-8ddd-000000000001")
SEALS = Seals([TrackingKey(7_000_000_001, PROJECT, bytes(range(32)))])
ROTATED = Seals(
    [
        TrackingKey(9_000_000_002, PROJECT, bytes(32)),
        TrackingKey(7_000_000_001, PROJECT, bytes(range(32))),
    ]
)
OTHERS = Seals([TrackingKey(7_000_000_001, UUID(int=9), bytes(range(32)))])


def written(recipient: int = 3) -> str:
    return return_path(SEALS, email_id=MAIL, recipient=recipient, now=NOW)


def test_a_return_path_says_what_it_was_made_of() -> None:
    local = written()

    claimed = read_return_path(local)

    assert len(local) <= MAX_LOCAL_BYTES
    assert claimed is not None
    assert (claimed.email_id, claimed.recipient) == (MAIL, 3)
    assert is_proved(claimed, SEALS)
    assert is_in_time(claimed, NOW)


def test_servers_may_change_its_case_and_its_delimiter() -> None:
    local = written()

    for spelled in (local.upper(), local.title(), local.replace("+", "-"), local.replace("+", "=")):
        claimed = read_return_path(spelled)
        assert claimed is not None
        assert is_proved(claimed, SEALS)


def test_one_made_before_the_key_was_changed_stays_good() -> None:
    claimed = read_return_path(written())

    assert claimed is not None
    assert is_proved(claimed, ROTATED)


def test_no_letter_of_it_can_be_changed() -> None:
    local = written()

    for at in range(8, len(local)):
        other = "a" if local[at] != "a" else "b"
        claimed = read_return_path(local[:at] + other + local[at + 1 :])
        assert claimed is None or not is_proved(claimed, SEALS), at


def test_another_project_with_the_same_key_proves_nothing() -> None:
    claimed = read_return_path(written())

    assert claimed is not None
    assert not is_proved(claimed, OTHERS)


@pytest.mark.parametrize(
    ("days", "is_good"), [(-2, False), (0, True), (60, True), (61, False), (4000, False)]
)
def test_it_is_good_for_some_weeks(days: int, is_good: bool) -> None:
    claimed = read_return_path(written())

    assert claimed is not None
    assert is_in_time(claimed, NOW + timedelta(days=days)) is is_good


@pytest.mark.parametrize("local", ["", "bounces", "bounces+", "bounces+abc", "ann", "+" * 63, "é"])
def test_what_is_no_return_path_is_none(local: str) -> None:
    assert read_return_path(local) is None


def test_a_recipient_number_that_does_not_fit_is_left_out() -> None:
    claimed = read_return_path(written(recipient=300))

    assert claimed is not None
    assert claimed.recipient == 0
