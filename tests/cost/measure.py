"""Runs cases and returns the cost of one unit of each."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cost.case import CaseSetup
from tests.cost.counting import Cost, Counting, counting
from tests.cost.work import Case

Runs = Mapping[str, Sequence[Cost]]
"""The costs of a unit by the name of its case, one for each run."""


async def measure(cases: Sequence[Case], *, repeat: int = 1) -> Runs:
    """Measure each case that many times."""
    runs: dict[str, list[Cost]] = {case.name: [] for case in cases}
    async with counting() as counted:
        for turn in range(repeat):
            for number, case in enumerate(cases):
                runs[case.name].append(await _unit(counted, case, f"cost_{turn}_{number}"))
    return runs


async def _unit(counted: Counting, case: Case, name: str) -> Cost:
    few = await _whole(counted, case, case.warm, f"{name}_few")
    more = await _whole(counted, case, case.all, f"{name}_more")
    return more.minus(few).over(case.units)


async def _whole(counted: Counting, case: Case, units: int, name: str) -> Cost:
    database = await counted.copy(name)
    with tempfile.TemporaryDirectory(prefix="mailqueue-cost-") as folder:
        setup = CaseSetup(counted, database, Path(folder), max_units=case.all)
        await case.prepare(setup)
        return await counted.of(name, lambda: case.do(setup, units))
