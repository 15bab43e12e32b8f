"""Tags of template versions in Mailgun's API: the note of a version holds its tag and its comment.

A version without such a note has its number as tag: `v3`. The content of a version never changes
here: changing it adds the next one with the same tag, and the newest of a tag is the one it names.
"""

import re
from collections.abc import Sequence

from mailqueue.api.compat.handlebars.kept import own_template
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import versions
from mailqueue.templates.model import TemplateRow, VersionRow

INITIAL = "initial"
"""The tag of a template's first version where none is given, as at Mailgun."""
MAX_NOTE = 500
_BETWEEN = ": "
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_NUMBERED = re.compile(r"v?(\d{1,9})")


def note_of(tag: str, comment: str | None) -> str:
    """Return the note of a version. Pure.

    Raises:
        InvalidField: the tag is none, or the comment is too long.
    """
    if not _TAG.fullmatch(tag):
        raise InvalidField("tag", "1 to 100 letters, digits, '.', '-' and '_' are needed")
    if len(comment or "") > MAX_NOTE - len(tag) - len(_BETWEEN):
        raise InvalidField("comment", f"with the tag it has at most {MAX_NOTE} characters")
    return f"{tag}{_BETWEEN}{comment}" if comment else tag


def tag_of(one: VersionRow) -> tuple[str, str]:
    """Return the tag and the comment of a version. Pure."""
    tag, _, comment = (one.note or "").partition(_BETWEEN)
    return (tag, comment) if _TAG.fullmatch(tag) else (f"v{one.version}", one.note or "")


def newest_by_tag(found: Sequence[VersionRow]) -> list[VersionRow]:
    """Return the version that each tag names, by tag; `found` are newest first. Pure."""
    named: dict[str, VersionRow] = {}
    for one in found:
        named.setdefault(tag_of(one)[0], one)
    return [named[tag] for tag in sorted(named)]


async def find_tagged(call: RequestContext, template: TemplateRow, tag: str) -> VersionRow:
    """Return the newest version of a tag, or the one whose number it is.

    Raises:
        NotFound: there is none.
    """
    numbered = _NUMBERED.fullmatch(tag)
    async with call.connection() as conn:
        number = None
        if _TAG.fullmatch(tag):
            number = await versions.number_noted(conn, template, tag, begins=tag + _BETWEEN)
        if number is None and numbered is not None:
            number = int(numbered[1])
        if not number:
            raise NotFound("version", tag[:100])
        return await versions.find(conn, template, number=number)


async def check_untaken(conn: Conn, template: TemplateRow, made: VersionRow) -> None:
    """Check that no version before a new one has its tag.

    Raises:
        InvalidField: one has.
    """
    tag, _ = tag_of(made)
    begins = tag + _BETWEEN
    if await versions.number_noted(conn, template, tag, begins=begins, before=made.version):
        raise taken(tag)


def taken(tag: str) -> InvalidField:
    """Return the error for a new version whose tag another has. Pure."""
    return InvalidField("tag", f"there is a version {tag} already")


async def version_named(call: RequestContext, template: str, tag: str | None) -> str | None:
    """Return the number of the version that `t:version` names; what names none stays as it is."""
    if tag is None:
        return None
    try:
        return str((await find_tagged(call, await own_template(call, template), tag)).version)
    except NotFound:  # a template of the platform, or the mail is refused for it
        numbered = _NUMBERED.fullmatch(tag)
        return tag if numbered is None else numbered[1]
