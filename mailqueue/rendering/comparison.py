"""Compare two texts by lines, with a limit on the work. Pure."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate

MAX_LINES = 20_000
"""Most lines of each text between those at which both begin and end alike; longer ones are shown
as replaced as a whole.
"""
MAX_COMPARISONS = 2_000_000
"""Most pairs of equal lines that are looked at for one text; about a fifth of a second. What is
left then is shown as replaced.
"""
_CONTEXT = 3


def unified(was: str, becomes: str, *, old: str, new: str) -> str:
    """Return the unified diff of two texts with these names; nothing where they are equal.

    It turns one text into the other however different they are. Above the limits it has more
    lines than it needs.
    """
    lines = _lines(was.splitlines(), becomes.splitlines(), old, new)
    return "".join(f"{line}\n" for line in lines)


def matching_blocks(was: Sequence[str], becomes: Sequence[str]) -> tuple[list[Match], int]:
    """Return where the lines of two texts are equal, and the number of comparisons it took."""
    shorter = min(len(was), len(becomes))
    start = next((n for n in range(shorter) if was[n] != becomes[n]), shorter)
    rest = shorter - start
    end = next((n for n in range(rest) if was[-1 - n] != becomes[-1 - n]), rest)
    before, after = was[start : len(was) - end], becomes[start : len(becomes) - end]
    found = [Match(0, 0, start)]
    left = MAX_COMPARISONS
    if max(len(before), len(after)) <= MAX_LINES:
        a_from = b_from = 0
        for a_to, b_to in [*_anchors(before, after), (len(before), len(after))]:
            if a_from < a_to and b_from < b_to:
                matcher = _BoundedMatcher(before[a_from:a_to], after[b_from:b_to], left)
                blocks = matcher.get_matching_blocks()[:-1]
                a_start, b_start = start + a_from, start + b_from
                found += [Match(a_start + one.a, b_start + one.b, one.size) for one in blocks]
                left = matcher.left
            if a_to < len(before):
                found.append(Match(start + a_to, start + b_to, 1))
            a_from, b_from = a_to + 1, b_to + 1
    found.append(Match(len(was) - end, len(becomes) - end, end))
    return [*_together(found), Match(len(was), len(becomes), 0)], MAX_COMPARISONS - left


def _anchors(was: Sequence[str], becomes: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of lines that each text has once, those that are in the same order.

    The longest such series is found in n log n steps, as in a patience diff.
    """
    once = {line for line, count in Counter(becomes).items() if count == 1}
    place = {line: number for number, line in enumerate(becomes) if line in once}
    counts = Counter(was)
    ends: list[int] = []  # the smallest place in which a series of each length ends
    series: list[tuple[int, int, int]] = []  # places in both, and the member before it
    last: list[int] = []  # the member in which each of `ends` stands
    for number, line in enumerate(was):
        if counts[line] != 1 or line not in place:
            continue
        length = bisect_left(ends, place[line])
        series.append((number, place[line], last[length - 1] if length else -1))
        ends[length : length + 1] = [place[line]]
        last[length : length + 1] = [len(series) - 1]
    found = []
    member = last[-1] if last else -1
    while member >= 0:
        a, b, member = series[member]
        found.append((a, b))
    return found[::-1]


def _together(blocks: Sequence[Match]) -> Iterator[Match]:
    """Yield blocks of which none is empty, and none begins where the one before it ends."""
    whole = Match(0, 0, 0)
    for one in blocks:
        if (whole.a + whole.size, whole.b + whole.size) == (one.a, one.b):
            whole = whole._replace(size=whole.size + one.size)
            continue
        if whole.size:
            yield whole
        whole = one
    if whole.size:
        yield whole


class _BoundedMatcher(SequenceMatcher[str]):
    """Finds equal lines until the comparisons are used up, then no more."""

    def __init__(self, was: Sequence[str], becomes: Sequence[str], left: int) -> None:
        super().__init__(None, was, becomes)
        self.left = left
        equal: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]  # documented
        # Comparisons up to each line: a search looks at all lines that equal one of its part.
        self._up_to = list(accumulate((1 + len(equal.get(line, ())) for line in was), initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        last = len(self._up_to) - 1 if ahi is None else ahi
        comparisons = self._up_to[last] - self._up_to[alo]
        if comparisons > self.left:
            return Match(alo, blo, 0)
        self.left -= comparisons
        return super().find_longest_match(alo, ahi, blo, bhi)


class _Blocks(SequenceMatcher[str]):
    """Forms the groups of a unified diff from blocks that were found before."""

    def __init__(self, blocks: list[Match]) -> None:
        super().__init__(None, "", "")
        self._blocks = blocks

    def get_matching_blocks(self) -> list[Match]:
        return self._blocks


def _lines(was: list[str], becomes: list[str], old: str, new: str) -> Iterator[str]:
    blocks, _ = matching_blocks(was, becomes)
    is_begun = False
    for group in _Blocks(blocks).get_grouped_opcodes(_CONTEXT):
        if not is_begun:
            yield f"--- {old}"
            yield f"+++ {new}"
            is_begun = True
        (_, a_from, _, b_from, _), (_, _, a_to, _, b_to) = group[0], group[-1]
        yield f"@@ -{_range(a_from, a_to)} +{_range(b_from, b_to)} @@"
        for kind, a_first, a_last, b_first, b_last in group:
            if kind == "equal":
                yield from (f" {line}" for line in was[a_first:a_last])
                continue
            yield from (f"-{line}" for line in was[a_first:a_last])
            yield from (f"+{line}" for line in becomes[b_first:b_last])


def _range(start: int, stop: int) -> str:
    """Return a range of lines as diff -u writes it."""
    length = stop - start
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"
