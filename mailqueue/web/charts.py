"""Lines of a chart, as paths of an SVG. Pure.

A chart is drawn on the server, so that it needs no script, and stands beside a table of the same
numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 600
HEIGHT = 160
"""Size of the drawing in its own units; a page stretches it to the room that it has."""
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class ChartLines:
    """The drawing of some series: the value at the top, and a path for each series."""

    top: int
    paths: list[str]
    step: float
    """Width of what belongs to one point."""


def chart_lines(points: Sequence[Sequence[int | None] | None]) -> ChartLines:
    """Return the lines through the values of each point, the oldest first.

    A point without values, or a value that is None, leaves a gap. A value that stands alone between
    gaps is a short line.
    """
    known = [values for values in points if values is not None]
    count = max((len(values) for values in known), default=0)
    top = _top(max((value or 0 for values in known for value in values), default=0))
    step = WIDTH / max(1, len(points))
    return ChartLines(top, [_path(points, place, top, step) for place in range(count)], step)


def _path(points: Sequence[Sequence[int | None] | None], place: int, top: int, step: float) -> str:
    line = [None if values is None else values[place] for values in points]
    parts: list[str] = []
    is_begun = False
    for number, value in enumerate(line):
        if value is None:
            is_begun = False
            continue
        x, y = (number + 0.5) * step, HEIGHT * (1 - value / top)
        is_alone = not is_begun and (number + 1 == len(line) or line[number + 1] is None)
        parts.append(f"{'L' if is_begun else 'M'}{x:.1f} {y:.1f}")
        if is_alone:
            parts.append(f"h{step / 2:.1f}")
        is_begun = True
    return "".join(parts)


def _top(most: int) -> int:
    """Return the lowest of 2, 4, 10, 20, 40, 100 … that is not below a value: it has a half."""
    unit = 1
    while True:
        for step in _STEPS:
            if (top := 2 * step * unit) >= most:
                return top
        unit *= 10
