"""List, find, add and remove suppressed addresses, by the rules of /v1/suppressions."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from starlette.responses import StreamingResponse

from mailqueue.api.compat.suppressed import store
from mailqueue.api.compat.suppressed.model import (
    ALL_EMAIL,
    CHOSEN,
    AddressFilter,
    SuppressedAddress,
    SuppressedInCategory,
    SuppressedList,
)
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import address_of
from mailqueue.suppression.model import NewSuppression

MAX_ID = 2**63 - 1
_PAGE_ROWS = 500
Row = TypeVar("Row", SuppressedAddress, SuppressedInCategory)


class AlsoBounced(InvalidField):
    """The address bounced or complained, which the suppression does not say that is to end."""


async def list_addresses(
    call: RequestContext, wanted: SuppressedList, chosen: AddressFilter
) -> list[SuppressedAddress]:
    """Return a page of a list, newest first; none for a filter that is not an address."""
    try:
        spellings = None if chosen.email is None else address_of(chosen.email).spellings
    except InvalidField:
        return []
    async with call.connection() as conn:
        return await store.list_page(
            conn, call.caller.project_id, wanted, chosen, spellings=spellings
        )


async def list_newer(
    call: RequestContext, wanted: SuppressedList, chosen: AddressFilter, *, newer_than: int
) -> list[SuppressedAddress]:
    """Return the next newer page after an id, newest first."""
    async with call.connection() as conn:
        ids = await store.list_newer_ids(
            conn,
            call.caller.project_id,
            wanted,
            newer_than=newer_than,
            prefix=chosen.prefix,
            limit=chosen.limit,
        )
    return await list_addresses(call, wanted, replace(chosen, ids=ids))


async def stream_addresses(
    call: RequestContext,
    wanted: SuppressedList,
    chosen: AddressFilter,
    shown: Callable[[SuppressedAddress], Any],
    *,
    field: str | None = None,
) -> StreamingResponse:
    """Return all addresses of a list as a JSON array, page by page, newest first; with `field`, as
    an object that has the array.
    """
    paged = replace(chosen, limit=_PAGE_ROWS)

    async def page_after(last: int | None) -> list[SuppressedAddress]:
        return await list_addresses(call, wanted, replace(paged, older_than=last))

    return await _streamed(page_after, shown, field)


async def stream_in_categories(
    call: RequestContext, wanted: SuppressedList, shown: Callable[[SuppressedInCategory], Any]
) -> StreamingResponse:
    """Return all suppressions in the categories of a list as a JSON array, page by page, newest
    first: an address once for each category.
    """

    async def page_after(last: int | None) -> list[SuppressedInCategory]:
        async with call.connection() as conn:
            return await store.list_in_categories(
                conn, call.caller.project_id, wanted, older_than=last, limit=_PAGE_ROWS
            )

    return await _streamed(page_after, shown, None)


async def _streamed(
    page_after: Callable[[int | None], Awaitable[list[Row]]],
    shown: Callable[[Row], Any],
    field: str | None,
) -> StreamingResponse:
    """Return pages as one JSON array; the first is read before the response begins."""
    first = await page_after(None)

    async def pieces() -> AsyncIterator[bytes]:
        page, separator = first, b""
        yield b"[" if field is None else b'{"%b":[' % field.encode()
        while page:
            yield separator + b",".join(write_json(shown(one)) for one in page)
            separator = b","
            if len(page) < _PAGE_ROWS:
                break
            page = await page_after(page[-1].id)
        yield b"]" if field is None else b"]}"

    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(pieces(), media_type="application/json", headers=headers)


async def find_address(
    call: RequestContext, wanted: SuppressedList, email: str
) -> SuppressedAddress | None:
    """Return an address of a list; None if it is not there."""
    found = await list_addresses(call, wanted, AddressFilter(email=email, limit=1))
    return found[0] if found else None


async def listed_among(
    call: RequestContext, wanted: SuppressedList, emails: Sequence[str]
) -> frozenset[str]:
    """Return those of some addresses that are in a list, as they are given."""
    spellings = {email: set(address_of(email).spellings) for email in emails}
    every = sorted(set().union(*spellings.values()))
    if not every:
        return frozenset()
    async with call.connection() as conn:
        chosen = AddressFilter(limit=len(every))
        found = await store.list_page(conn, call.caller.project_id, wanted, chosen, spellings=every)
    there = {one.address for one in found}
    return frozenset(email for email, each in spellings.items() if each & there)


async def add_addresses(call: RequestContext, new: Sequence[NewSuppression]) -> list[str]:
    """Suppress addresses; return them in canonical form, in order.

    An address that is suppressed in the category already keeps its first reason.

    Raises:
        InvalidField: there is none, or more than 1,000.
    """
    async with call.connection() as conn:
        added = await entries.add(conn, call.caller.project, entries=new, by=call.by)
    return [one.email for one in added]


async def remove_address(call: RequestContext, one: SuppressedAddress, *, provider: str) -> None:
    """End the suppressions of an address in a list; `provider` is the API that was asked.

    Raises:
        AlsoBounced: it is suppressed by a choice, and bounced or complained as well.
    """
    why = f"asked by the API of {provider}"
    project = call.caller.project
    async with call.connection() as conn:
        found = await entries.check(conn, project, email=one.address)
        reasons = {each.category: each.reason for each in found.suppressions}
        for category in one.categories:
            # The first reason stays: who unsubscribed may have complained afterwards.
            is_choice = category == ALL_EMAIL and reasons.get(category) in CHOSEN
            try:
                await entries.remove(
                    conn,
                    project,
                    email=one.address,
                    category=category,
                    why=None if is_choice else why,
                    by=call.by,
                )
            except InvalidField as exc:
                if exc.field != "why":
                    raise
                reason = "bounced or complained too: end that by /v1/suppressions, with a reason"
                raise AlsoBounced("email", reason) from None
