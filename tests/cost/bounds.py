"""The bounds of the cost of work: one table in a file."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import ceil
from pathlib import Path

from tests.cost.counting import Cost
from tests.cost.measure import Runs
from tests.cost.work import CASES

FILE = Path(__file__).with_name("bounds.toml")
FIGURES = tuple(field.name for field in fields(Cost))
COUNTS = ("statements", "plans", "commits", "fsyncs")
COUNT_MARGIN = 0.4
"""Statements, plans, commits and fsyncs that a unit may cost beyond what was measured."""
SHARE_MARGIN = 0.04
"""Bytes and buffers that a unit may cost beyond what was measured, as a share of it."""
HEAD = """\
# What a unit of work may cost at most: what was measured with PostgreSQL 18, and a margin.
# Written by `python -m tests.cost --write`. A commit that raises a bound says why.
"""

Bounds = Mapping[str, Mapping[str, float]]


def read_bounds() -> Bounds:
    """Return the bounds by case and figure."""
    return tomllib.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def write_bounds(runs: Runs) -> None:
    """Write the measured figures as bounds, keeping those of other cases."""
    measured = {
        name: {figure: _bound(figure, _most(costs, figure)) for figure in FIGURES}
        for name, costs in runs.items()
    }
    bounds = {**read_bounds(), **measured}
    bounds = {case.name: bounds[case.name] for case in CASES if case.name in bounds}
    tables = [
        f'["{name}"]\n' + "".join(f"{figure} = {value}\n" for figure, value in bound.items())
        for name, bound in bounds.items()
    ]
    FILE.write_text("\n".join([HEAD, *tables]), "utf-8")


def over(runs: Runs, bounds: Bounds) -> list[str]:
    """Return a sentence for each figure above its bound, and for each case without bounds."""
    return [
        f"{name}: {figure} {_show(value)}, at most {_show(bound)} allowed"
        for name, costs in runs.items()
        for figure in FIGURES
        if (value := _least(costs, figure)) > (bound := bounds.get(name, {}).get(figure, -1.0))
    ]


def report(runs: Runs, bounds: Bounds) -> list[str]:
    """Return the lines of a table: each figure, its spread over the runs, and its bound."""
    lines = [f"{'measured, spread (bound)':42}" + "".join(f"{name:>26}" for name in FIGURES)]
    for name, costs in runs.items():
        cells = [_cell(costs, figure, bounds.get(name, {}).get(figure)) for figure in FIGURES]
        lines.append(f"{name:42}" + "".join(f"{cell:>26}" for cell in cells))
    return lines


def _bound(figure: str, measured: float) -> float:
    if figure not in COUNTS:
        return ceil(measured * (1 + SHARE_MARGIN)) + 1
    return ceil((measured + COUNT_MARGIN) * 10) / 10


def _cell(costs: Sequence[Cost], figure: str, bound: float | None) -> str:
    least, most = _least(costs, figure), _most(costs, figure)
    spread = f" +{_show(most - least)}" if len(costs) > 1 else ""
    return f"{_show(least)}{spread} ({'none' if bound is None else _show(bound)})"


def _least(costs: Sequence[Cost], figure: str) -> float:
    return min(float(getattr(cost, figure)) for cost in costs)


def _most(costs: Sequence[Cost], figure: str) -> float:
    return max(float(getattr(cost, figure)) for cost in costs)


def _show(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 100 else f"{value:,.0f}"
