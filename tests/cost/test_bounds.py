"""The cost of accepting, claiming, settling and each kind of worker stays below bounds.

`python -m tests.cost` shows the figures; with `--write` they become the bounds, knowingly.
"""

import asyncio
from dataclasses import replace

import pytest

from tests.cost.bounds import COUNTS, over, read_bounds
from tests.cost.measure import Runs, measure
from tests.cost.work import CASES


@pytest.fixture(scope="module")
def runs() -> Runs:
    runs = asyncio.run(measure(CASES))
    # What the clock added, on a machine with much else to do, it does not add twice.
    dear = [case for case in CASES if over({case.name: runs[case.name]}, read_bounds())]
    again = asyncio.run(measure(dear)) if dear else {}
    return {name: [*costs, *again.get(name, ())] for name, costs in runs.items()}


def test_no_work_costs_more_than_its_bound(runs: Runs) -> None:
    assert over(runs, read_bounds()) == []


@pytest.mark.parametrize("figure", COUNTS)
def test_one_more_of_each_count_is_above_its_bound(runs: Runs, figure: str) -> None:
    """Where this fails, work has become cheaper: lower its bound with `--write`."""
    for case in CASES:
        more = 2 if case.polls and figure == "statements" else 1
        dearer = [replace(it, **{figure: getattr(it, figure) + more}) for it in runs[case.name]]

        found = over({case.name: dearer}, read_bounds())

        assert any(f": {figure} " in sentence for sentence in found), case.name


def test_each_case_has_a_bound_and_each_bound_a_case() -> None:
    assert set(read_bounds()) == {case.name for case in CASES}
