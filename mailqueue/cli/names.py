"""Completion of names that are stored: of projects and sender accounts."""

import importlib
from collections.abc import Sequence
from typing import Any

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

_READER = "mailqueue.cli.support.stored_names"
PROJECTS, SENDERS = "projects", "senders"
_OPTIONS = {"--project": PROJECTS, "--sender": SENDERS}
_GROUPS = {"project": PROJECTS, "sender": SENDERS}
_ADDING = ("add", "create")
"""Commands whose argument is a new name."""


def named(words: Sequence[str], incomplete: str) -> tuple[str, str] | None:
    """Return the kind of name that is completed and what of it was typed; None: no name. Pure."""
    option, is_joined, typed = incomplete.partition("=")
    if is_joined and option in _OPTIONS:
        return _OPTIONS[option], typed
    if words and words[-1] in _OPTIONS:
        return _OPTIONS[words[-1]], incomplete
    is_argument = len(words) == 2 and not incomplete.startswith("-")
    if is_argument and words[0] in _GROUPS and words[1] not in _ADDING:
        return _GROUPS[words[0]], incomplete
    return None


class WithStoredNames(ShellComplete):
    """Offers stored names where one is typed, and what click offers elsewhere."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """Return names that begin with the incomplete word; none where the server is away."""
        found = named(args, incomplete)
        offered = super().get_completions(args, incomplete)
        if found is None:
            return offered
        kind, typed = found
        reader = importlib.import_module(_READER)
        names = [name for name in reader.read_names(kind, args) if name.startswith(typed)]
        return [*(CompletionItem(name) for name in names), *offered]


class BashNames(WithStoredNames, BashComplete):
    """Completion in bash."""


class ZshNames(WithStoredNames, ZshComplete):
    """Completion in zsh."""


class FishNames(WithStoredNames, FishComplete):
    """Completion in fish."""


def register() -> None:
    """Let click complete by the classes of this module."""
    for each in (BashNames, ZshNames, FishNames):
        add_completion_class(each)
