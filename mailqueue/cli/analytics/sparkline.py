"""A row of bars for numbers, one character each. Pure."""

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
MAX_BARS = 60


def sparkline(values: Sequence[int]) -> str:
    """Return a bar for each number, or for the sum of several where there are more than 60."""
    if not values:
        return ""
    size = -(-len(values) // MAX_BARS)
    sums = [sum(values[at : at + size]) for at in range(0, len(values), size)]
    highest = max(sums)
    if highest <= 0:
        return BARS[0] * len(sums)
    return "".join(BARS[max(0, one) * (len(BARS) - 1) // highest] for one in sums)
