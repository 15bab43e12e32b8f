"""Waits between attempts grow along the ladder and stay near it."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.mail.backoff import JITTER, LADDER, next_wait

MIDDLE = 0.5  # the chance that neither adds nor takes


@pytest.mark.parametrize(
    ("attempt", "minutes"), [(1, 1), (2, 5), (3, 15), (4, 60), (5, 60), (32_767, 60)]
)
def test_waits_are_1_5_15_60_minutes_and_then_hourly(attempt: int, minutes: int) -> None:
    assert next_wait(attempt, MIDDLE) == timedelta(minutes=minutes)


@given(attempt=st.integers(1, 1000), chance=st.floats(0, 1))
def test_chance_moves_a_wait_by_a_fifth_at_most(attempt: int, chance: float) -> None:
    usual = next_wait(attempt, MIDDLE)

    assert usual * (1 - JITTER) <= next_wait(attempt, chance) <= usual * (1 + JITTER)


def test_mails_refused_together_do_not_return_together() -> None:
    assert next_wait(1, 0.0) < next_wait(1, MIDDLE) < next_wait(1, 1.0)


def test_the_ladder_never_steps_down() -> None:
    assert list(LADDER) == sorted(LADDER)


@pytest.mark.parametrize("attempt", [0, -1])
def test_there_is_no_wait_before_the_first_attempt(attempt: int) -> None:
    with pytest.raises(ValueError, match=f"got {attempt}"):
        next_wait(attempt, MIDDLE)
