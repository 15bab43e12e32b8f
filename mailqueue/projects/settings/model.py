"""A setting of a project: its kind, meaning, unit and default, and its value as text. Pure."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mailqueue.core.errors import InvalidField


class ProjectSettingKind(StrEnum):
    """How the value of a setting of a project is written."""

    TEXT = "text"
    PARAGRAPH = "paragraph"  # may have several lines
    CHOICE = "choice"  # one of the words in `metavar`
    NUMBER = "number"
    FLAG = "flag"
    LIST = "list"
    PICTURE = "picture"  # the id of a picture of templates
    DOCUMENT = "document"  # JSON; commands take it from a file, and it has pages of its own


class SettingGroup(StrEnum):
    """What a setting is about; forms show the settings of a group together."""

    IDENTITY = "Identity"
    SENDING = "Sending"
    EXPIRY = "Expiry"
    BOUNCES = "Bounces"
    TRACKING = "Tracking and unsubscribing"
    CONTENT = "What may be sent"
    BOUNDS = "Bounds"


@dataclass(frozen=True, slots=True)
class ProjectSetting:
    """One setting: `name` is that of `projects.change`, `default` the value of a reset."""

    name: str
    kind: ProjectSettingKind
    group: SettingGroup
    meaning: str
    option: str | None = None  # of commands; None: made of the name
    metavar: str = "TEXT"
    shown_default: str | None = None
    unit: str | None = None
    default: object = None

    @property
    def command_option(self) -> str:
        """Return the option of commands that sets it."""
        return self.option or f"--{self.name.replace('_', '-')}"

    def value_of(self, text: str) -> object:
        """Return the value that a text stands for, None for an empty one: a reset.

        Raises:
            InvalidField: the text is no number, neither on nor off, or no JSON.
        """
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            return None
        match self.kind:
            case ProjectSettingKind.NUMBER:
                return self._number(text.strip())
            case ProjectSettingKind.FLAG if text not in ("on", "off"):
                raise InvalidField(self.name, f"must be on or off, got {text!r}")
            case ProjectSettingKind.FLAG:
                return text == "on"
            case ProjectSettingKind.LIST:
                return lines
            case ProjectSettingKind.DOCUMENT:
                return self._document(text)
            case _:
                return text

    def text_of(self, value: object) -> str:
        """Return a value as a text that `value_of` reads."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, Mapping):
            return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
        if isinstance(value, (list, tuple)):
            return "\n".join(map(str, value))
        return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)

    def _document(self, text: str) -> object:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as exc:
            raise InvalidField(self.name, f"must be JSON: {exc}") from None

    def _number(self, text: str) -> int | float:
        try:
            found = int(text) if text.isdigit() else float(text)
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            raise InvalidField(self.name, f"must be a number, got {text[:100]!r}")
        return found
