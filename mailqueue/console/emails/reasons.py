"""The reason for the state of an email, as a page shows it: its times, and commands apart. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_STEP = re.compile(r"; (?=[^;:\n]{1,60}: mailqueue )")
_TIME = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\b")


@dataclass(frozen=True, slots=True)
class ReasonPart:
    """A part of a sentence: a text, or a time."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command, and what it does."""

    label: str
    command: str


@dataclass(frozen=True, slots=True)
class StateReason:
    """The sentence in parts, and the commands that may follow."""

    parts: Sequence[ReasonPart]
    steps: Sequence[ShellCommand]

    @property
    def is_in_doubt(self) -> bool:
        """Return whether a person has to decide if the email was sent."""
        return any(step.command.startswith("mailqueue resolve ") for step in self.steps)


def explained(why: str, status: str = "") -> StateReason:
    """Return the reason in the text of SQL's why(), without the status, which stands before it."""
    sentence, *steps = _STEP.split(why)
    rest = sentence.removeprefix(f"{status} ") if status else sentence
    return StateReason(_parts(rest), [_step(text) for text in steps])


def _parts(sentence: str) -> list[ReasonPart]:
    parts: list[ReasonPart] = []
    for place, text in enumerate(_TIME.split(sentence)):
        at = _instant(text) if place % 2 else None
        if text:
            parts.append(ReasonPart(f"{text} UTC" if place % 2 else text, at))
    return parts


def _instant(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _step(text: str) -> ShellCommand:
    label, _, command = text.partition(": ")
    return ShellCommand(label, command)
