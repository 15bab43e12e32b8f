"""Find the text between two marks in a template, in one pass. Pure.

A regular expression such as `{{.*?}}` reads to the end for each opening mark that is never closed:
quadratic time. Here a missing mark is searched once.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Span(NamedTuple):
    """One match: from `start` to `end`, its inside from `begin` to `stop`."""

    kind: str
    start: int
    begin: int
    stop: int
    end: int


def spans_of(
    text: str, opening: re.Pattern[str], closing: Mapping[str, re.Pattern[str]]
) -> Iterator[Span]:
    """Yield the matches in order; none is nested in another.

    `opening` has a named group for each kind of mark, `closing` the mark that ends the kind.
    """
    missing: set[str] = set()
    at = 0
    while (found := opening.search(text, at)) is not None:
        kind = found.lastgroup or ""
        end = None if kind in missing else closing[kind].search(text, found.end())
        if end is None:
            missing.add(kind)
            at = found.start() + 1
            continue
        yield Span(kind, found.start(), found.end(), end.start(), end.end())
        at = end.end()
