"""The decision about an A/B test: which variant has won, if any. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from mailqueue.analytics.ab_tests.significance import Observed, holm, p_value


class AbTestAnswer(NamedTuple):
    """The answer of an evaluation."""

    result: str
    """`winner`, `no_difference` or `too_few`."""
    winner: int | None
    """Place of the winner among the variants, from 0; None: there is none."""
    p_values: tuple[float | None, ...]
    """Of each variant compared with the first, corrected by Holm; None of the first itself, and
    where nothing was compared."""


def decide(variants: Sequence[Observed], *, alpha: float, min_sample: int) -> AbTestAnswer:
    """Return the answer about variants, each of which is compared with the first.

    A variant wins if it is better than the first, and significantly so; of several such, that with
    the highest share. The first wins if it is significantly better than every other. Nothing is
    compared where a variant has fewer observations than the least sample.
    """
    none = (None,) * len(variants)
    if any(one.size < max(1, min_sample) for one in variants):
        return AbTestAnswer("too_few", None, none)
    first, *others = variants
    corrected = holm([p_value(first, one) for one in others])
    p_values = (None, *corrected)
    differ = [place for place, value in enumerate(corrected, start=1) if value <= alpha]
    better = [place for place in differ if variants[place].rate > first.rate]
    if better:
        winner = max(better, key=lambda place: variants[place].rate)
        return AbTestAnswer("winner", winner, p_values)
    if len(differ) == len(others):
        return AbTestAnswer("winner", 0, p_values)
    return AbTestAnswer("no_difference", None, p_values)
