"""What lists and segments of SendGrid's API have in common: both are lists of contacts.

A condition selects the contacts of a segment; those of a list are added one by one.
"""

from typing import Any
from uuid import UUID

from mailqueue.api.compat.named_lists import name_of, newest_first
from mailqueue.api.compat.sendgrid.marketing.contact_model import shown
from mailqueue.api.http.context import RequestContext
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn

MAX_LISTED = 100
"""Lists or segments of a page, whose contacts are counted: the newest."""
_MAX_SAMPLE = 50


async def find_of(call: RequestContext, list_id: UUID, *, is_segment: bool) -> ContactList:
    """Return a list, or a segment.

    Raises:
        NotFound: the project has none, or it is of the other kind.
    """
    async with call.connection() as conn:
        one = await lists.find(conn, call.caller.project_id, list_id)
    if (one.condition is not None) is not is_segment:
        raise NotFound(_kind(is_segment), list_id)
    return one


async def all_of(call: RequestContext, *, is_segment: bool) -> list[ContactList]:
    """Return the lists, or the segments, of the project, the newest first."""
    async with call.connection() as conn:
        found = await lists.list_(conn, call.caller.project_id)
    return newest_first([one for one in found if (one.condition is not None) is is_segment])


async def check_free(call: RequestContext, name: str, *, is_segment: bool) -> None:
    """Check that no list, or no segment, has a name.

    Raises:
        InvalidField: one has.
    """
    if any(name_of(one) == name for one in await all_of(call, is_segment=is_segment)):
        raise InvalidField("name", f"is the name of another {_kind(is_segment)}")


async def sample_of(call: RequestContext, one: ContactList, conn: Conn) -> list[dict[str, Any]]:
    """Return some of the contacts of a list or segment, as SendGrid shows them."""
    project_id = call.caller.project_id
    page = await lists.members(conn, project_id, one.name, after=None, limit=_MAX_SAMPLE)
    ids = await lists.of_contacts(conn, project_id, [each.id for each in page.data])
    return [shown(each, ids.get(each.id, ())) for each in page.data]


def _kind(is_segment: bool) -> str:
    return "segment" if is_segment else "list"
