"""A chart is drawn on the server, beside a table of the same numbers."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mailqueue.web.charts import HEIGHT, WIDTH, chart_lines
from mailqueue.web.rendering import environment

_POINT = re.compile(r"[ML]([\d.]+) ([\d.]+)")


@dataclass(frozen=True, slots=True)
class ShownPoint:
    at: datetime
    counts: tuple[int, ...] | None


def test_a_line_goes_through_its_values_and_leaves_gaps() -> None:
    drawn = chart_lines([(0, 4), None, (2, 0), (4, 2)])

    assert drawn.top == 4
    first, second = ([(float(x), float(y)) for x, y in _POINT.findall(p)] for p in drawn.paths)
    assert [y for _, y in first] == [HEIGHT, HEIGHT / 2, 0]
    assert [y for _, y in second] == [0, HEIGHT, HEIGHT / 2]
    assert [x for x, _ in first] == [WIDTH / 8, WIDTH * 5 / 8, WIDTH * 7 / 8]
    assert drawn.paths[0].count("M") == 2, "a gap is not bridged"
    assert "h" in drawn.paths[0], "a value alone between gaps is seen"


def test_a_line_that_is_shorter_than_another_ends_where_its_values_do() -> None:
    drawn = chart_lines([(1, 3), (2, 4), (4, None)])

    assert drawn.top == 4
    assert [len(_POINT.findall(path)) for path in drawn.paths] == [3, 2]


@pytest.mark.parametrize(
    ("most", "top"), [(0, 2), (1, 2), (2, 2), (3, 4), (5, 10), (11, 20), (21, 40), (4_001, 10_000)]
)
def test_the_highest_value_fits_below_a_round_number_that_has_a_half(most: int, top: int) -> None:
    assert chart_lines([(most,)]).top == top
    assert top % 2 == 0


def test_a_chart_of_nothing_has_no_line() -> None:
    assert chart_lines([]).paths == []
    assert chart_lines([None, None]).paths == []


def test_the_table_has_every_number_of_the_drawing() -> None:
    begin = datetime(2030, 5, 1, tzinfo=UTC)
    points = [
        ShownPoint(begin + timedelta(minutes=n), (n * 1000, n) if n != 2 else None)
        for n in range(5)
    ]
    template = environment({"here": Path(__file__).parent}).from_string(
        '{% from "web/chart.html" import chart %}'
        '{{ chart("Sent <b>", [("Sent", "good"), ("Failed", "bad")], points) }}'
    )

    page = template.render(points=points)

    assert re.findall(r'<td class="number">([\d,]+)</td>', page) == [
        *("4,000", "4", "3,000", "3", "1,000", "1", "0", "0")
    ]
    assert page.count("not read yet") == 1
    assert re.findall(r'class="line (\w+)"', page) == ["good", "bad"]
    assert page.count("<rect") == 4
    assert "2030-05-01 00:03 UTC\nSent 3,000\nFailed 3</title>" in page
    assert "Sent &lt;b&gt;" in page
    assert "style=" not in page
    assert "<script" not in page
