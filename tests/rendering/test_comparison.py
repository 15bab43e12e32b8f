"""Unified diffs of two texts, and the limit on their work."""

import random
import re
from collections.abc import Iterator
from difflib import unified_diff

import pytest

from mailqueue.rendering import comparison
from mailqueue.rendering.comparison import matching_blocks, unified


def lines_of(count: int, kinds: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [chr(0x4E00 + chosen.randrange(kinds)) for _ in range(count)]


def patched(was: list[str], diff: str) -> list[str]:
    """Return lines as a unified diff changes them; fail where it does not fit."""
    made: list[str] = []
    at = 0
    for line in diff.splitlines()[2:]:
        if found := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line):
            start = int(found[1]) - (found[2] != "0")
            made += was[at:start]
            at = start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert was[at] == line[1:]
            if line[0] == " ":
                made.append(was[at])
            at += 1
    return made + was[at:]


def pairs() -> Iterator[tuple[list[str], list[str]]]:
    for seed in range(60):
        was = lines_of(seed * 3, 40, seed)
        becomes = list(was)
        chosen = random.Random(-seed)
        for _ in range(seed % 7):
            place = chosen.randrange(len(becomes) + 1)
            becomes[place : place + chosen.randrange(3)] = lines_of(chosen.randrange(3), 40, seed)
        yield was, becomes


def test_a_diff_turns_one_text_into_the_other() -> None:
    for was, becomes in pairs():
        diff = unified("\n".join(was), "\n".join(becomes), old="a", new="b")

        assert patched(was, diff) == becomes


def test_a_diff_of_one_change_is_that_of_the_standard_library() -> None:
    was = [f"line {number}" for number in range(400)]
    for first, count, new in ((0, 1, ["x"]), (200, 0, ["x", "y"]), (399, 1, []), (5, 9, ["z"])):
        becomes = was[:first] + new + was[first + count :]

        diff = unified("\n".join(was), "\n".join(becomes), old="a", new="b")

        assert diff.splitlines() == list(unified_diff(was, becomes, "a", "b", lineterm=""))


@pytest.mark.parametrize(("count", "kinds"), [(20_000, 150), (20_000, 250), (260_000, 15_000)])
def test_texts_of_many_alike_lines_are_compared_within_a_count(count: int, kinds: int) -> None:
    was, becomes = lines_of(count, kinds, 1), lines_of(count, kinds, 2)

    blocks, comparisons = matching_blocks(was, becomes)

    assert comparisons <= comparison.MAX_COMPARISONS
    assert all(was[a : a + size] == becomes[b : b + size] for a, b, size in blocks)
    diff = unified("\n".join(was), "\n".join(becomes), old="a", new="b")
    assert patched(was, diff) == becomes


def test_a_change_in_a_long_text_is_shown_as_that_change() -> None:
    was = lines_of(100_000, 5000, 1)
    becomes = [*was[:50_000], "new", *was[50_000:]]

    diff = unified("\n".join(was), "\n".join(becomes), old="a", new="b")

    assert [line for line in diff.splitlines()[2:] if line[0] in "+-"] == ["+new"]


def test_a_whole_newsletter_is_compared_line_by_line() -> None:
    """500 KB with 300 links, of which every tenth line differs."""
    was = [f'<p>{n} <a href="https://example.com/{n % 300}">x</a></p>' for n in range(9_000)]
    becomes = [f"{line}!" if n % 10 == 0 else line for n, line in enumerate(was)]

    diff = unified("\n".join(was), "\n".join(becomes), old="a", new="b").splitlines()[2:]

    assert sum(line[0] == "-" for line in diff) == sum(line[0] == "+" for line in diff) == 900
