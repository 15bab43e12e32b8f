"""Filters of contacts, and the state of an import. Values only."""

import re
from dataclasses import dataclass, field

from mailqueue.contract.contacts import ImportedContacts
from mailqueue.contract.suppression import BadLine, ListEncoding

_LIST_NAME = re.compile("[a-z0-9][a-z0-9_-]{0,62}")


def is_list_name(recipient: str) -> bool:
    """Return whether a recipient is the name of a list: every address has an @. Pure.

    The same as SQL's is_list_name().
    """
    return _LIST_NAME.fullmatch(recipient) is not None


@dataclass(frozen=True, slots=True)
class ContactFilter:
    """What contacts have in common; None: any."""

    having: str | None = None
    """Text in the address."""
    language: str | None = None
    time_zone: str | None = None
    condition: str | None = None
    """jsonpath, as in lists."""


@dataclass(slots=True)
class ContactTally:
    """Result of an import so far; all bad lines are counted, the first ones are kept."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    bad: int = 0
    errors: list[BadLine] = field(default_factory=list)
    encoding: ListEncoding = ListEncoding.UTF_8

    def result(self, *, is_trial: bool) -> ImportedContacts:
        """Return the counts as callers see them."""
        return ImportedContacts(
            added=self.added,
            changed=self.changed,
            unchanged=self.unchanged,
            bad=self.bad,
            errors=sorted(self.errors, key=lambda one: one.line),
            encoding=self.encoding,
            dry_run=is_trial,
        )
