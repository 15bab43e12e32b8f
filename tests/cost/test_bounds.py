"""The cost of accepting, claiming, settling and each kind of worker stays below bounds.

`python -m tests.cost` shows the figures; with `--write` they become the bounds, knowingly.
"""

import asyncio
from dataclasses import replace

import pytest

from tests.cost.bounds import COUNTS, over, read_bounds
from tests.cost.measure import Runs, measure
from tests.cost.work import CASES

MAX_MORE_RUNS = 3
"""Further runs of a case that costs more than its bound; the least of all runs counts."""


@pytest.fixture(scope="module")
def runs() -> Runs:
    runs = {name: list(costs) for name, costs in asyncio.run(measure(CASES)).items()}
    # What the clock adds, on a machine with much else to do, it does not add each time.
    for _ in range(MAX_MORE_RUNS):
        dear = [case for case in CASES if over({case.name: runs[case.name]}, read_bounds())]
        for name, costs in asyncio.run(measure(dear)).items() if dear else ():
            runs[name] += costs
    return runs


def test_no_work_costs_more_than_its_bound(runs: Runs) -> None:
    assert over(runs, read_bounds()) == []


@pytest.mark.parametrize("figure", COUNTS)
def test_one_more_of_each_count_is_above_its_bound(runs: Runs, figure: str) -> None:
    """Where this fails, work has become cheaper: lower its bound with `--write`."""
    for case in CASES:
        dearer = [replace(it, **{figure: getattr(it, figure) + 1}) for it in runs[case.name]]

        found = over({case.name: dearer}, read_bounds())

        assert any(f": {figure} " in sentence for sentence in found), case.name


def test_each_case_has_a_bound_and_each_bound_a_case() -> None:
    assert set(read_bounds()) == {case.name for case in CASES}
