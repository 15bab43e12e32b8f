"""The texts of the pages of recipients by language, and which of them a project may replace.

Texts of projects are written by tenants: they are filled by `filled` alone, never by `str.format`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

REPLACEABLE: tuple[str, ...] = (
    "question",
    "question_all",
    "goes_on",
    "done_title",
    "done",
    "done_all",
    "mistake",
    "again_title",
    "again_done",
    "manage",
    "preferences",
    "intro",
    "saved",
    "leave_title",
    "leave",
    "left_all",
    "stopped",
    "confirm",
    "confirm_question",
    "confirm_yes",
    "confirm_otherwise",
    "confirmed_title",
    "confirmed",
    "expired_title",
    "expired",
)
"""Names of the texts that a project may replace, in the order of the pages; those of SQL's
page_text_slots().
"""
MAX_CHARACTERS = 1000
"""Characters of one text of a project; project_page_texts() refuses more, and more than 64 KiB
together.
"""
_SLOT = re.compile(r"\{([a-z]+)\}")
_FROM_RIGHT = frozenset({"ar", "he"})
"""Languages that are written from the right."""


def _read() -> Mapping[str, Mapping[str, Any]]:
    folder = Path(__file__).parent / "words"
    return {
        path.stem: MappingProxyType(orjson.loads(path.read_bytes()))
        for path in sorted(folder.glob("*.json"))
    }


TEXTS = MappingProxyType(_read())
"""The built-in texts by language tag, then name."""


def direction_of(tag: str) -> str:
    """Return the direction of a language's script, as HTML writes it. Pure."""
    return "rtl" if tag in _FROM_RIGHT else "ltr"


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its names in braces replaced by values; others stay as they are. Pure.

    Braces in a value are not looked at.
    """
    return _SLOT.sub(lambda found: values.get(found[1], found[0]), text)


def replaced(built_in: Mapping[str, Any], own: object) -> Mapping[str, Any]:
    """Return the texts of a language with those of a project in their place. Pure."""
    if not isinstance(own, Mapping):
        return built_in
    return {
        **built_in,
        **{name: own[name] for name in REPLACEABLE if isinstance(own.get(name), str)},
    }
