"""Ids of templates and versions in paths."""

from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import versions, writing
from mailqueue.templates.model import TemplateRow, VersionRow

_DIGITS = 9


def owner_of(call: RequestContext) -> UUID | None:
    """Return the project whose templates a request names; None: the platform's."""
    return call.tenant


async def template_of(call: RequestContext, conn: Conn, *, to_change: bool = False) -> TemplateRow:
    """Return the template that a path names by id or slug."""
    find = writing.find_own if to_change else writing.find
    given = call.path["template"]
    own = owner_of(call)
    try:
        return await find(conn, own, template_id=UUID(given))
    except ValueError:
        return await find(conn, own, slug=given[:100])


async def version_of(call: RequestContext, conn: Conn, template: TemplateRow) -> VersionRow:
    """Return the version that a path names by id or number."""
    given = call.path["version"]
    if given.isascii() and given.isdigit() and len(given) <= _DIGITS:
        return await versions.find(conn, template, number=int(given))
    try:
        return await versions.find(conn, template, version_id=UUID(given))
    except ValueError:
        raise NotFound("version", given[:100]) from None
