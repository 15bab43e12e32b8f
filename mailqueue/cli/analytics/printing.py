"""Counts and rates as text for people."""

from collections.abc import Sequence

import click

from mailqueue.cli.analytics.sparkline import sparkline
from mailqueue.contract.analytics import AnalyticsHeatmap, AnalyticsOverview, AnalyticsTimeseries
from mailqueue.contract.counts import METRICS, CountRate, CountRates, StatsVerification

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def percent(rate: CountRate) -> str:
    if not rate.is_known:
        return "unknown"
    return "-" if rate.value is None else f"{100 * rate.value:.2f} %"


def print_overview(answer: AnalyticsOverview) -> None:
    rows = [answer.current] if answer.previous is None else [answer.current, answer.previous]
    click.echo(f"{answer.current.since} to {answer.current.until}, counted up to {answer.as_of}")
    for name, words in METRICS.items():
        click.echo(f"  {words:<24}" + _columns([getattr(one.counts, name) for one in rows]))
    for name in CountRates.__dataclass_fields__:
        rates = [getattr(one.rates, name) for one in rows]
        shown = _columns([percent(one) for one in rates])
        click.echo(f"  {name.replace('_', ' ') + ' rate':<24}{shown}  of {rates[0].of}")


def _columns(values: Sequence[object]) -> str:
    return "".join(f"{value!s:>14}" for value in values)


def print_series(answer: AnalyticsTimeseries) -> None:
    click.echo(
        f"{METRICS[answer.metric]} by {answer.bucket.value}, {answer.since} to {answer.until}, "
        f"counted up to {answer.as_of}"
    )
    for one in answer.series:
        name = "(other)" if one.is_other else one.name or one.value or "all"
        bars = sparkline([point.value for point in one.points])
        click.echo(f"  {name[:32]:<32}{one.total:>12}  {bars}")


def print_heatmap(answer: AnalyticsHeatmap) -> None:
    click.echo(f"{METRICS[answer.metric]} by hour, {answer.since} to {answer.until}")
    highest = max((cell.value for cell in answer.cells), default=0)
    for day, name in enumerate(_DAYS, start=1):
        values = [cell.value for cell in answer.cells if cell.weekday == day]
        bars = sparkline([*values, highest])[:-1]
        click.echo(f"  {name}  {bars}  {sum(values):>12}")


def print_verification(answer: StatsVerification) -> None:
    click.echo(
        f"{answer.counts} counts from {answer.since} to {answer.until}: "
        + (f"{answer.differences} differ from history" if answer.differences else "all agree")
    )
    for one in answer.first:
        whose = one.project or "all projects"
        click.echo(
            f"  {one.table} of {whose} at {one.at}: {one.dimension} {one.value} {one.value2} "
            f"{one.metric} is {one.counted}, history says {one.in_history}"
        )
