"""Rows of two versions side by side, from their unified diff. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

MAX_ROWS = 1_000
"""Rows of a part that are shown."""
MAX_CHARACTERS = 2_000
"""Characters of a line that are shown."""
CONTEXT = 80
"""Characters before and after the change in a line that is longer."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A line with its number; `changed` is the part that the other version does not have."""

    number: int
    before: str
    changed: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class LinePair:
    """Lines that stand side by side; None: the version has no such line. Both None: lines that are
    equal are left out.
    """

    old: VersionLine | None
    new: VersionLine | None
    is_equal: bool = False


@dataclass(slots=True)
class Compared:
    """What differs in one part of two versions: `subject`, `html` or `text`."""

    name: str
    rows: list[LinePair] = field(default_factory=list)
    is_cut: bool = False
    """Whether there are more rows than are shown."""


def compared(diff: str) -> list[Compared]:
    """Return the parts that differ, from the unified diff that `previews.diff` returns."""
    found: list[Compared] = []
    lines = iter(diff.split("\n"))
    for line in lines:
        if line.startswith("--- "):
            next(lines)
            found.append(Compared(line.rpartition("/")[2]))
        elif hunk := _HUNK.fullmatch(line):
            part = found[-1]
            if part.rows:
                part.rows.append(LinePair(None, None))
            part.rows.extend(_rows(lines, hunk))
    for part in found:
        part.is_cut = len(part.rows) > MAX_ROWS
        del part.rows[MAX_ROWS:]
    return found


def _rows(lines: Iterator[str], hunk: re.Match[str]) -> Iterator[LinePair]:
    """Yield the rows of a hunk, whose header says how many lines it has: text may look like one."""
    old, new = int(hunk[1]), int(hunk[3])
    old_left, new_left = (1 if hunk[each] is None else int(hunk[each]) for each in (2, 4))
    gone: list[tuple[int, str]] = []
    come: list[tuple[int, str]] = []
    while old_left or new_left:
        line = next(lines)
        kind, text = line[:1], line[1:]
        if kind == " ":
            yield from _changed(gone, come)
            gone, come = [], []
            yield LinePair(
                VersionLine(old, _short(text)), VersionLine(new, _short(text)), is_equal=True
            )
        if kind in " -":
            gone += [(old, text)] if kind == "-" else []
            old, old_left = old + 1, old_left - 1
        if kind in " +":
            come += [(new, text)] if kind == "+" else []
            new, new_left = new + 1, new_left - 1
    yield from _changed(gone, come)


def _changed(
    gone: Sequence[tuple[int, str]], come: Sequence[tuple[int, str]]
) -> Iterator[LinePair]:
    for old, new in zip_longest(gone, come):
        if old is None or new is None:
            yield LinePair(_unmarked(old), _unmarked(new))
            continue
        begin = _alike(old[1], new[1])
        end = _alike(old[1][begin:][::-1], new[1][begin:][::-1])
        yield LinePair(_marked(old, begin, end), _marked(new, begin, end))


def _unmarked(line: tuple[int, str] | None) -> VersionLine | None:
    return None if line is None else VersionLine(line[0], _short(line[1]))


def _alike(one: str, other: str) -> int:
    """Return the number of characters with which both texts begin."""
    shorter = min(len(one), len(other))
    return next((n for n in range(shorter) if one[n] != other[n]), shorter)


def _marked(line: tuple[int, str], begin: int, end: int) -> VersionLine:
    number, text = line
    stop = len(text) - end
    before, changed, after = text[:begin], text[begin:stop], text[stop:]
    if len(text) > MAX_CHARACTERS:
        before = before if len(before) <= CONTEXT else f"…{before[-CONTEXT:]}"
        after = after if len(after) <= CONTEXT else f"{after[:CONTEXT]}…"
    return VersionLine(number, before, _short(changed), after)


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"
