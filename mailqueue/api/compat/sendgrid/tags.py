"""Puts the values of each personalization in the place of its tags. Pure.

What is said to all is cut at the tags once; a mail only joins the pieces. A value may hold tags of
sections, and a section tags of values.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mailqueue.api.compat.batch import Budget

MAX_WORK = 64 * 1024 * 1024
"""Characters that are looked at for tags, times their number over four, in one request."""
_TOO_MUCH = "content"


@dataclass(slots=True)
class Tags:
    """The sections of a request, and what was cut for it so far."""

    sections: Mapping[str, str]
    budget: Budget
    work: Budget = field(default_factory=lambda: Budget(MAX_WORK))
    _cut: dict[tuple[str, frozenset[str]], list[str]] = field(default_factory=dict)
    _patterns: dict[frozenset[str], re.Pattern[str]] = field(default_factory=dict)

    def values(self, own: Mapping[str, str | None]) -> dict[str, str]:
        """Return what stands in the place of each tag in one mail.

        Raises:
            InvalidField: there would be too much of it.
        """
        given = {tag: value or "" for tag, value in own.items()}
        if not self.sections:
            return given
        filled = {tag: self.put_in(text, given) for tag, text in self.sections.items()}
        return filled | {tag: self.put_in(value, filled) for tag, value in given.items()}

    def put_in(self, text: str, values: Mapping[str, str]) -> str:
        """Return a text with the values in place.

        Raises:
            InvalidField: there would be too much of it.
        """
        if not values:
            return text
        pieces = self._pieces(text, values)
        if len(pieces) == 1:
            return text
        # Every other piece is a tag.
        pieces[1::2] = [values[tag] for tag in pieces[1::2]]
        self.budget.take(max(len(pieces), sum(map(len, pieces))), _TOO_MUCH)
        return "".join(pieces)

    def _pieces(self, text: str, tags: Iterable[str]) -> list[str]:
        keys = frozenset(tags)
        if (text, keys) not in self._cut:
            self.work.take(len(text) * (1 + len(keys) // 4), _TOO_MUCH)
            self._cut[text, keys] = self._pattern(keys).split(text)
        return self._cut[text, keys].copy()

    def _pattern(self, keys: frozenset[str]) -> re.Pattern[str]:
        if keys not in self._patterns:
            # The longest first: a tag may begin as another does.
            either = "|".join(map(re.escape, sorted(keys, key=len, reverse=True)))
            self._patterns[keys] = re.compile(f"({either})")
        return self._patterns[keys]
