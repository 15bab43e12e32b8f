"""Decides how figures are shown: medians with their spread, one table, one JSON document."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median

import click
import orjson

PACKAGES = ("psycopg", "uvloop", "orjson")


@dataclass(slots=True)
class Report:
    """Figures of repeated runs: for each case, a list of runs, each a mapping of figures."""

    name: str
    settings: dict[str, object]
    runs: dict[str, list[Mapping[str, float]]] = field(default_factory=dict)

    def add(self, case: str, figures: Mapping[str, float]) -> None:
        """Add the figures of one run and print them."""
        self.runs.setdefault(case, []).append(figures)
        said = "  ".join(f"{name} {show(value)}" for name, value in figures.items())
        click.echo(f"  {case}: {said}", err=True)

    def median(self, case: str, figure: str) -> float:
        """Return the middle of a figure over all runs of a case."""
        return median(run[figure] for run in self.runs[case])

    def print(self) -> None:
        """Print a table: a line a case, the median of each figure and how far runs differ."""
        names = self._figures()
        lines = [[self.name, *names]]
        for case, runs in self.runs.items():
            cells = [_cell([run[name] for run in runs if name in run]) for name in names]
            lines.append([case, *cells])
        _print(lines)

    def ratios(self) -> dict[str, dict[str, float]]:
        """Return, for each case that another version ran too, the medians of this one divided by
        those of the other; a case of another version is named as that of this one, a comma and the
        version.
        """
        found = dict[str, dict[str, float]]()
        for other in self.runs:
            case, _, version = other.rpartition(", ")
            if case in self.runs:
                found[f"{case}, this / {version}"] = {
                    name: self.median(case, name) / self.median(other, name)
                    for name in self.runs[case][0]
                    if name in self.runs[other][0] and self.median(other, name)
                }
        return found

    def print_ratios(self) -> None:
        """Print the ratios, a line a case; nothing if there was no other version."""
        ratios = self.ratios()
        if not ratios:
            return
        names = self._figures()
        cells = {
            case: [f"{each[name]:.2f}" if name in each else "-" for name in names]
            for case, each in ratios.items()
        }
        click.echo()
        _print([["ratio", *names], *([case, *each] for case, each in cells.items())])

    def _figures(self) -> list[str]:
        return list(dict.fromkeys(name for runs in self.runs.values() for name in runs[0]))

    def write(self, path: Path | None) -> None:
        """Write everything as JSON, for later comparison."""
        if path is None:
            return
        document = {
            "benchmark": self.name,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "settings": self.settings,
            "medians": {
                case: {name: median(run[name] for run in runs) for name in runs[0]}
                for case, runs in self.runs.items()
            },
            "ratios": self.ratios(),
            "runs": self.runs,
        }
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2, default=str))


def machine() -> dict[str, object]:
    """Print the machine and the versions that were measured."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "commit": _commit(),
        **{package: version(package) for package in PACKAGES},
    }


def show(value: float) -> str:
    """Return a figure with its significant digits."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _print(lines: list[list[str]]) -> None:
    """Print lines of cells below each other: the first to the left, figures to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        first, *rest = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join((first.strip().ljust(widths[0]), *rest)))


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "-"
    middle = median(values)
    if len(values) == 1 or not middle:
        return show(middle)
    spread = (max(values) - min(values)) / abs(middle)
    return f"{show(middle)} ±{spread / 2:.0%}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _commit() -> str:
    here = Path(__file__).parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or "unknown"


def fail(why: str) -> None:
    """End the benchmark with an error: its figures would be invalid."""
    click.echo(f"error: {why}", err=True)
    sys.exit(1)
