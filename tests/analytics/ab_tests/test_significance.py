"""Tests of significance agree with scipy and statsmodels, whose numbers are in reference.json."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from mailqueue.analytics.ab_tests.decision import decide
from mailqueue.analytics.ab_tests.significance import (
    MAX_EXACT,
    Observed,
    fisher_exact,
    holm,
    p_value,
    z_test,
)

REFERENCE: Any = json.loads((Path(__file__).parent / "reference.json").read_text("utf-8"))
CLOSE = 1e-9
"""Largest relative difference from a number of the reference."""
RUNS = 2_000
"""Tests of equal variants."""
MAX_FALSE = 0.06
"""Largest share of them that may have a winner, at an alpha of 0.05."""


def test_fisher_agrees_with_scipy_on_a_thousand_tables() -> None:
    tables = REFERENCE["tables"]
    assert len(tables) == 1_000
    for first, first_hits, second, second_hits, expected in tables:
        found = fisher_exact(Observed(first, first_hits), Observed(second, second_hits))
        assert math.isclose(found, expected, rel_tol=CLOSE, abs_tol=1e-300), (first, second)


def test_fisher_does_not_depend_on_the_order_of_groups_or_on_what_is_called_a_hit() -> None:
    for first, first_hits, second, second_hits, _ in REFERENCE["tables"][:200]:
        found = fisher_exact(Observed(first, first_hits), Observed(second, second_hits))
        turned = fisher_exact(Observed(second, second_hits), Observed(first, first_hits))
        missed = fisher_exact(
            Observed(first, first - first_hits), Observed(second, second - second_hits)
        )
        assert math.isclose(found, turned, rel_tol=CLOSE, abs_tol=1e-300)
        assert math.isclose(found, missed, rel_tol=CLOSE, abs_tol=1e-300)


def test_holm_agrees_with_statsmodels() -> None:
    assert REFERENCE["holm"]
    for values, expected in REFERENCE["holm"]:
        found = holm(values)
        assert all(
            math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-300)
            for one, other in zip(found, expected, strict=True)
        )


def test_more_than_a_hundred_thousand_observations_are_compared_by_a_z_test() -> None:
    half = MAX_EXACT // 2
    exact = Observed(half, 10_000), Observed(half, 10_300)
    above = Observed(half, 10_000), Observed(half + 1, 10_300)
    assert p_value(*exact) == fisher_exact(*exact)
    assert p_value(*above) == z_test(*above)
    # Of so many, both have nearly one value.
    assert math.isclose(z_test(*exact), fisher_exact(*exact), rel_tol=0.05)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Observed(0, 0), Observed(0, 0)),
        (Observed(10, 0), Observed(0, 0)),
        (Observed(10, 0), Observed(20, 0)),
        (Observed(10, 10), Observed(20, 20)),
    ],
)
def test_nothing_to_compare_is_no_difference(first: Observed, second: Observed) -> None:
    assert fisher_exact(first, second) == 1.0
    assert z_test(first, second) == 1.0


@pytest.mark.parametrize("variants", [2, 3, 4])
def test_equal_variants_have_a_winner_in_at_most_six_percent_of_tests(variants: int) -> None:
    chance = random.Random(20_261_127 + variants)
    winners = differ = 0
    for _ in range(RUNS):
        observed = [
            Observed(300, sum(chance.random() < 0.2 for _ in range(300))) for _ in range(variants)
        ]
        answer = decide(observed, alpha=0.05, min_sample=100)
        winners += answer.result == "winner"
        differ += any(one is not None and one <= 0.05 for one in answer.p_values)
    assert winners <= RUNS * MAX_FALSE
    assert differ <= RUNS * MAX_FALSE
