"""What the panels of the dashboard are made of."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: `queries` are pairs of a PromQL expression and its legend."""

    title: str
    queries: Sequence[tuple[str, str]]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 8
    help: str = ""


def stat(title: str, expression: str, unit: str = "short") -> Panel:
    """Return a panel with one figure."""
    return Panel(title, [(expression, "")], unit, "stat", 4)


def rate(name: str, by: str) -> str:
    """Return the expression of a counter's increase a second, by labels."""
    return f"sum by ({by}) (rate({name}[$__rate_interval]))"


def share(name: str, quantile: float, by: str = "le") -> str:
    """Return the expression of a quantile of a histogram, by labels."""
    return f"histogram_quantile({quantile}, sum by ({by}) (rate({name}_bucket[$__rate_interval])))"
