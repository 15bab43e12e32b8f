"""Pages of lists in Mailgun's API whose pivot is the name of an item: `page=next&p=name`."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeVar
from urllib.parse import quote, urlencode

from pydantic import Field

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField

MAX_LISTED = 100
Item = TypeVar("Item")


class MailgunNamedPage(RequestModel):
    """The query of a list; `p` is the name that a page begins after, or ends before."""

    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    page: Literal["", "first", "next", "previous", "prev", "last"] = ""
    p: StorableText | None = None


def page_of(
    items: Sequence[Item], query: MailgunNamedPage, name_of: Callable[[Item], str]
) -> list[Item]:
    """Return the part of a list that a query names. Pure.

    Raises:
        InvalidField: the pivot is not in the list.
    """
    if query.page == "last":
        return list(items[-query.limit :])
    if query.page in ("", "first") or query.p is None:
        return list(items[: query.limit])
    names = [name_of(one) for one in items]
    if query.p not in names:
        raise InvalidField("p", "is not in the list")
    place = names.index(query.p)
    if query.page == "next":
        return list(items[place + 1 : place + 1 + query.limit])
    return list(items[max(0, place - query.limit) : place])


def paging_of(
    call: RequestContext,
    query: MailgunNamedPage,
    shown: Sequence[str],
    *,
    pivot: str = "p",
    more: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the URLs of the pages around one with these names; `pivot` is its parameter."""
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    base = f"{origin}{quote(call.request.scope['path'].rstrip('/'))}"

    def url(page: str, name: str | None) -> str:
        near = {} if name is None else {pivot: name}
        return f"{base}?{urlencode({'page': page, **near, **more, 'limit': query.limit})}"

    # Past an end the pivot stays, so that the page is empty again.
    first, last = (shown[0], shown[-1]) if shown else (query.p, query.p)
    return {
        "first": url("first", None),
        "last": url("last", None),
        "next": url("next", last),
        "previous": url("previous", first),
    }
