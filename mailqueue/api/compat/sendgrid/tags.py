"""Replace substitution tags by the values of each personalization. Pure.

Shared text is split at its tags once; each mail only joins the pieces. Values may contain section
tags, and sections value tags.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mailqueue.api.compat.batch import Budget

MAX_WORK = 64 * 1024 * 1024
"""Most work in one request: characters searched for tags, times the number of tags, over four."""
_TOO_MUCH = "content"


@dataclass(slots=True)
class Tags:
    """The sections of a request, and the texts split so far."""

    sections: Mapping[str, str]
    budget: Budget
    work: Budget = field(default_factory=lambda: Budget(MAX_WORK))
    _cut: dict[tuple[str, frozenset[str]], list[str]] = field(default_factory=dict)
    _patterns: dict[frozenset[str], re.Pattern[str]] = field(default_factory=dict)

    def values(self, own: Mapping[str, str | None]) -> dict[str, str]:
        """Return the value of each tag in one mail.

        Raises:
            InvalidField: the values would be too large.
        """
        given = {tag: value or "" for tag, value in own.items()}
        if not self.sections:
            return given
        filled = {tag: self.put_in(text, given) for tag, text in self.sections.items()}
        return filled | {tag: self.put_in(value, filled) for tag, value in given.items()}

    def put_in(self, text: str, values: Mapping[str, str]) -> str:
        """Return a text with the tags replaced.

        Raises:
            InvalidField: it would be too large.
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
            # The longest first: one tag may be the prefix of another.
            either = "|".join(map(re.escape, sorted(keys, key=len, reverse=True)))
            self._patterns[keys] = re.compile(f"({either})")
        return self._patterns[keys]
