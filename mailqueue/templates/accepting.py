"""Accept mail from a template: find the version, and validate the variables.

Steps of a caller, for one mail or for ten thousand:

1. `chosen = await choose(conn, cache, project_id, template="welcome", language="de")`, once a call;
   `cache` is the `TemplateCache()` of the process.
2. `chosen.check(variables)` for each recipient: the whole JSON Schema, without the database.
3. `NewEmail(recipient, subject=None, options={"template": "welcome", "language": "de",
   "variables": variables, …})` to `mail.accept.acceptance`, as any mail.

SQL resolves the template again in the accepting transaction, so a version published meanwhile is
used, and checks required names and types itself. It stores one content row for
all mail of a batch call (`template_version_id`, `template_language`, the template's own subject,
no bodies) and the variables in each mail's `custom_data` under `variables`; the worker renders.

`template` is `slug` (its published version), `slug@published` or `slug@3`. A missing language
falls back from `de-at` to `de`, then to the template's own. A mail that is sent during the
request is rendered at once: `chosen.render(variables)` returns its content.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.rendering.compiled import Rendered
from mailqueue.rendering.faults import TemplateFault
from mailqueue.templates import store
from mailqueue.templates.cache import CachedVersion, TemplateCache
from mailqueue.templates.model import TemplateRow, VersionRow, VersionStatus

_NAMED = re.compile(r"(?P<slug>[^@]*)(?:@(?P<version>.*))?", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,9}")
_PUBLISHED = ("published", "latest-published", None)


@dataclass(frozen=True, slots=True)
class ChosenVersion:
    """The template version and language that the mails of a call are rendered from."""

    template: TemplateRow
    version: VersionRow
    language: str
    sheet: CachedVersion

    def check(self, variables: Mapping[str, Any]) -> None:
        """Validate variables against the schema.

        Raises:
            InvalidField: naming the first invalid variable.
        """
        try:
            self.sheet.check(variables)
        except TemplateFault as exc:
            raise _of_variables(exc) from None

    def render(self, variables: Mapping[str, Any]) -> Rendered:
        """Return the rendered content of one mail, within the limits of rendering.

        Raises:
            InvalidField: it cannot be rendered with these variables.
        """
        try:
            return self.sheet.render(variables)
        except TemplateFault as exc:
            raise _of_variables(exc) from None


async def choose(
    conn: Conn,
    template_cache: TemplateCache,
    project_id: UUID,
    *,
    template: str,
    language: str | None = None,
) -> ChosenVersion:
    """Return the version and language that a mail's `template` and `language` options name.

    Raises:
        InvalidField: there is no such template or version, or it is a draft.
    """
    named = _NAMED.fullmatch(template)
    assert named is not None
    slug, wanted = named["slug"], named["version"]
    number = int(wanted) if wanted is not None and _NUMBER.fullmatch(wanted) else None
    if number is None and wanted not in _PUBLISHED:
        raise InvalidField("template", f"{wanted[:100]!r} is not a version: a number, or published")
    found = await store.find_template(conn, project_id, slug=slug, template_id=None)
    if found is None:
        raise InvalidField("template", f'there is no template "{slug[:100]}"')
    version = await store.find_version(conn, found.id, number=number, version_id=None)
    if version is None:
        missing = "no published version" if number is None else f"no version {number}"
        raise InvalidField("template", f'"{slug}" has {missing}')
    if version.status == VersionStatus.DRAFT:
        why = f'version {version.version} of "{slug}" is a draft: publish it'
        raise InvalidField("template", why)
    spoken = language_of(language, version.languages, found.language)
    fetched = await template_cache.fetch(conn, [(version.id, spoken)])
    return ChosenVersion(found, version, spoken, fetched[version.id, spoken])


def language_of(tag_wanted: str | None, known: Sequence[str], default: str) -> str:
    """Return the language that is used: the one wanted, its primary subtag, or the default.
    Pure.
    """
    tag = (tag_wanted or "").lower().replace("_", "-")
    return next((one for one in (tag, tag.partition("-")[0]) if one in known), default)


def _of_variables(fault: TemplateFault) -> InvalidField:
    if fault.part.startswith("variables"):
        return InvalidField(fault.part, fault.why)
    return InvalidField("variables", str(fault))
