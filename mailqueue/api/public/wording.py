"""The language a page is shown in, and its texts in that language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from markupsafe import Markup, escape

from mailqueue.suppression.subscriptions.model import MARKETING, Subscription
from mailqueue.suppression.wording.texts import TEXTS, direction_of, filled, replaced

DEFAULT_LANGUAGE = "en"
_MAX_TAGS = 20
"""Language tags of an Accept-Language header that are looked at."""


@dataclass(frozen=True, slots=True)
class PageTexts:
    """The texts of the pages in one language; `tag` is its language tag in HTML."""

    tag: str
    texts: Mapping[str, Any]

    @property
    def direction(self) -> str:
        """Return the direction of the language's script, as HTML writes it."""
        return direction_of(self.tag)

    def __getitem__(self, name: str) -> str:
        return str(self.texts[name])

    def say(self, name: str, /, **values: object) -> Markup:
        """Return a sentence with its values, each isolated from the text direction around it."""
        kept = {key: Markup("<bdi>{}</bdi>").format(value) for key, value in values.items()}
        return Markup(filled(str(escape(self[name])), kept))  # noqa: S704

    def plain(self, name: str, /, **values: str) -> str:
        """Return a sentence with its values, as a text without markup."""
        return filled(self[name], values)

    def of_project(self, own: Mapping[str, Mapping[str, str]]) -> "PageTexts":
        """Return the texts with those of a project in their place; `own` by language, then name."""
        return PageTexts(self.tag, replaced(self.texts, own.get(self.tag)))

    def day(self, at: date | datetime) -> str:
        """Return a date in the language's long form."""
        months: Sequence[str] = self.texts["months"]
        return self["date"].format(day=at.day, month=months[at.month - 1], year=at.year)

    def name_of(self, one: Subscription) -> str:
        """Return a category's name: translated, as the project named it, or from its slug."""
        if name := self._translated(one, "name") or one.name:
            return name
        if one.slug == MARKETING:
            return self["marketing"]
        words = one.slug.replace("_", " ").replace("-", " ").strip()
        return words[:1].upper() + words[1:]

    def description_of(self, one: Subscription) -> str:
        """Return a category's description, translated where it is; "" when it has none."""
        return self._translated(one, "description") or one.description or ""

    def _translated(self, one: Subscription, field: str) -> str | None:
        for tag in (self.tag, self.tag.partition("-")[0]):
            if found := one.translations.get(tag, {}).get(field):
                return found
        return None


WORDS = MappingProxyType({tag: PageTexts(tag, texts) for tag, texts in TEXTS.items()})


def words_for(*, chosen: str | None, accepted: str, of_mail: str | None) -> PageTexts:
    """Return the texts of the language chosen, else the browser's, the mail's, English. Pure.

    `accepted` is the value of Accept-Language (RFC 9110 12.5.4).
    """
    weighted = list[tuple[float, str]]()
    for part in accepted.split(",")[:_MAX_TAGS]:
        tag, _, parameter = part.strip().partition(";")
        name, _, value = parameter.strip().partition("=")
        try:
            weight = min(1.0, max(0.0, float(value))) if name.strip().lower() == "q" else 1.0
        except ValueError:
            weight = 0.0
        weighted.append((weight, tag.strip()))
    weighted.sort(key=itemgetter(0), reverse=True)
    for wanted in (chosen, *(tag for weight, tag in weighted if weight > 0), of_mail):
        if wanted and (found := WORDS.get(wanted.lower().partition("-")[0])):
            return found
    return WORDS[DEFAULT_LANGUAGE]
