"""Tests of significance for two shares, and the correction for several of them. Pure."""

import math
from collections.abc import Sequence
from typing import NamedTuple

MAX_EXACT = 100_000
"""Observations of both groups together up to which the exact test is used."""
_SAME = 1 + 1e-7
"""Two probabilities whose ratio is at most this are taken as equal, as R does."""


class Observed(NamedTuple):
    """Observations of one group, and how many of them are hits."""

    size: int
    hits: int

    @property
    def rate(self) -> float:
        """Return the share of hits; 0.0 without observations."""
        return self.hits / self.size if self.size else 0.0


def p_value(first: Observed, second: Observed) -> float:
    """Return the two-sided p-value of the difference of two shares: exact for at most MAX_EXACT
    observations, of a z-test above.
    """
    if first.size + second.size > MAX_EXACT:
        return z_test(first, second)
    return fisher_exact(first, second)


def fisher_exact(first: Observed, second: Observed) -> float:
    """Return the two-sided p-value of Fisher's exact test: the probability of all tables with the
    same sums that are at most as probable as the one observed.

    Probabilities are computed relative to the most probable table, from which they fall on both
    sides: one that cannot be represented adds nothing.
    """
    size, hits = first.size + second.size, first.hits + second.hits
    least, most = max(0, hits - second.size), min(first.size, hits)
    mode = min(max((first.size + 1) * (hits + 1) // (size + 2), least), most)
    others = size - first.size - hits
    weight_by_hits = {mode: 1.0}
    weight = 1.0
    for k in range(mode, most):
        weight *= (hits - k) * (first.size - k) / ((k + 1) * (others + k + 1))
        if weight == 0.0:
            break
        weight_by_hits[k + 1] = weight
    weight = 1.0
    for k in range(mode, least, -1):
        weight *= k * (others + k) / ((hits - k + 1) * (first.size - k + 1))
        if weight == 0.0:
            break
        weight_by_hits[k - 1] = weight
    limit = weight_by_hits.get(first.hits, 0.0) * _SAME
    total = math.fsum(weight_by_hits.values())
    return min(1.0, math.fsum(one for one in weight_by_hits.values() if one <= limit) / total)


def z_test(first: Observed, second: Observed) -> float:
    """Return the two-sided p-value of the z-test of two shares with a common variance."""
    size, hits = first.size + second.size, first.hits + second.hits
    if not (first.size and second.size and 0 < hits < size):
        return 1.0
    share = hits / size
    error = math.sqrt(share * (1 - share) * (1 / first.size + 1 / second.size))
    return math.erfc(abs(first.rate - second.rate) / error / math.sqrt(2))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's method, in their order.

    Those at most alpha may be rejected together: the probability that any of them is so by chance
    is at most alpha.
    """
    corrected = [1.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda one: values[one])):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = highest
    return corrected
