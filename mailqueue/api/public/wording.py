"""Decides in which language a page speaks to somebody, and how its words are written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
from markupsafe import Markup, escape

from mailqueue.suppression.subscriptions.model import MARKETING, Subscription

OTHERWISE = "en"
_MOST_TAGS = 20


@dataclass(frozen=True, slots=True)
class Words:
    """What the pages say in one language; `tag` is what HTML calls it."""

    tag: str
    said: Mapping[str, Any]

    def __getitem__(self, name: str) -> str:
        return str(self.said[name])

    def say(self, name: str, **values: object) -> Markup:
        """Fill a sentence; each value is kept apart from the direction of the text around it."""
        kept = {key: Markup("<bdi>{}</bdi>").format(value) for key, value in values.items()}
        return escape(self[name]).format(**kept)

    def quoted(self, name: str) -> str:
        """Return a name as people set it apart."""
        return self["quoted"].format(name=name)

    def day(self, at: date | datetime) -> str:
        """Write a day as people read it."""
        months: Sequence[str] = self.said["months"]
        return self["date"].format(day=at.day, month=months[at.month - 1], year=at.year)

    def name_of(self, one: Subscription) -> str:
        """Name a category: in this language, in its project's own words, else from its slug."""
        if name := self._translated(one, "name") or one.name:
            return name
        if one.slug == MARKETING:
            return self["marketing"]
        words = one.slug.replace("_", " ").replace("-", " ").strip()
        return words[:1].upper() + words[1:]

    def description_of(self, one: Subscription) -> str:
        """Describe a category, as far as anybody did."""
        return self._translated(one, "description") or one.description or ""

    def _translated(self, one: Subscription, field: str) -> str | None:
        for tag in (self.tag, self.tag.partition("-")[0]):
            if found := one.translations.get(tag, {}).get(field):
                return found
        return None


def _read() -> Mapping[str, Words]:
    folder = Path(__file__).parent / "words"
    return {
        path.stem: Words(path.stem, MappingProxyType(orjson.loads(path.read_bytes())))
        for path in sorted(folder.glob("*.json"))
    }


WORDS = MappingProxyType(_read())


def words_for(*, chosen: str | None, accepted: str, of_mail: str | None) -> Words:
    """Choose a language: the one that was clicked, the browser's, that of the mail, English. Pure.

    `accepted` is a header Accept-Language (RFC 9110 12.5.4).
    """
    for tag in (chosen, *_wanted(accepted), of_mail):
        if tag and (found := WORDS.get(tag.lower().partition("-")[0])):
            return found
    return WORDS[OTHERWISE]


def _wanted(accepted: str) -> Iterator[str]:
    """Yield the tags of a header, those that are wanted most first."""
    weighed = []
    for place, part in enumerate(accepted.split(",")[:_MOST_TAGS]):
        tag, _, rest = part.strip().partition(";")
        weight = _weight(rest)
        if weight > 0:
            weighed.append((-weight, place, tag.strip()))
    for _, _, tag in sorted(weighed):
        yield tag


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return min(1.0, max(0.0, float(value)))
    except ValueError:
        return 0.0
