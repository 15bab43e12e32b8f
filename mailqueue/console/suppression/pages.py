"""The suppressed addresses of a project, with filters, and their export."""

from starlette.responses import Response, StreamingResponse

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.page import Page
from mailqueue.contract.suppression import Suppression, SuppressionReason
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import category_of
from mailqueue.suppression.lists.exporting import Format, export
from mailqueue.web.rendering import sentence
from mailqueue.web.security_headers import DOWNLOAD_HEADERS

PATH = "/console/projects/{project}/suppressions"
PAGE_ROWS = 50
FILTERS = ("q", "reason", "category")
REASONS = (
    ("", "any"),
    *((reason.value, reason.value.replace("_", " ")) for reason in SuppressionReason),
)
DONE = {
    "added": "The addresses are suppressed.",
    "before": "This was done before, and was not done again.",
}


async def show_suppressions(context: PageContext) -> Response:
    """List suppressed addresses, newest first."""
    typed = {name: context.query(name) for name in FILTERS}
    faults: dict[str, str] = {}
    found: Page[Suppression] = Page([], None)
    if typed["reason"] not in dict(REASONS):
        faults["reason"] = "Must be one of those shown."
    else:
        try:
            (before,) = key_of(context.query("after") or None, int)
            async with context.connection() as conn:
                found = await entries.list_page(
                    conn,
                    context.seen.name,
                    before=before,
                    limit=PAGE_ROWS,
                    reason=SuppressionReason(typed["reason"]) if typed["reason"] else None,
                    category=typed["category"] or None,
                    having=typed["q"] or None,
                )
        except InvalidField as exc:
            field = {"having": "q", "cursor": "q"}.get(exc.field, exc.field)
            faults[field] = sentence(exc.why)
    return context.page(
        "suppression/list.html",
        suppressions=found.data,
        following=found.next_cursor,
        typed=typed,
        faults=faults,
        reasons=REASONS,
        is_filtered=any(typed.values()),
        done=DONE.get(context.query("done"), ""),
    )


async def export_list(context: PageContext) -> Response:
    """Return the addresses that the filters match as a CSV file, page by page.

    Raises:
        InvalidField: a filter is invalid.
    """
    reason, category = context.query("reason"), context.query("category")
    if reason not in dict(REASONS):
        raise InvalidField("reason", "must be one of those shown")
    pieces = export(
        context.connection,
        context.seen.name,
        form=Format.CSV,
        reason=SuppressionReason(reason) if reason else None,
        category=category_of(category) if category else None,
    )
    name = f"suppressions-{context.seen.name}.csv"
    return StreamingResponse(
        pieces,
        media_type="text/csv; charset=utf-8; header=present",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            **DOWNLOAD_HEADERS,
        },
    )


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_suppressions, menu=MenuEntry("Suppressions", "Mail")),
    ConsolePage("GET", f"{PATH}/export", Right.MANAGE_RECIPIENTS, export_list),
)
