"""The queues of RabbitMQ whose messages are events of a project, and its dead letters."""

from collections.abc import Mapping
from uuid import UUID

import orjson
from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.bridge import letters
from mailqueue.bridge.model import LetterFilter
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.automation.bridge import (
    ConsumptionState,
    DeadLetterDetail,
    LetterStatus,
)
from mailqueue.core.json.writing import write_json
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.web.forms import uuid_of

PATH = "/console/projects/{project}/broker"
LETTER = f"{PATH}/{{letter_id}}"
PAGE_ROWS = 50
MAX_TYPE = 200
"""Characters of a type by which dead letters are filtered."""
STATES = {
    ConsumptionState.CONSUMING: ("its messages are taken", "good"),
    ConsumptionState.WAITING: ("the project takes no events now", "poor"),
    ConsumptionState.UNAVAILABLE: ("the broker or the queue cannot be used", "bad"),
    ConsumptionState.STOPPED: ("its consumer was stopped", "poor"),
}
"""What the state of a queue means, in words, and its tone."""
STATUSES = ("", *LetterStatus)
COUNTS = {
    "letters": "read",
    "events": "became events",
    "duplicates": "were events already",
    "emails": "emails queued",
    "cancelled": "emails cancelled",
    "failed": "cannot be handled, and stay",
}
"""What a replay counts, in words, in the order in which they are said."""
MAX_DIGITS = 10
DONE = {
    "replayed": "It was handled by today's rules.",
    "failed": "It still cannot be handled: the reason is below.",
    "before": "This was done before, and was not done again.",
}


async def show_broker(context: PageContext) -> Response:
    """Show queues by name, and dead letters, newest first, with filters."""
    typed = {name: context.query(name) for name in ("type", "status")}
    faults = {}
    if typed["status"] not in STATUSES:
        faults["status"] = "is none of those listed"
    if len(typed["type"]) > MAX_TYPE:
        faults["type"] = f"has at most {MAX_TYPE} characters"
    (before,) = key_of(context.query("before") or None, UUID)
    async with context.connection() as conn:
        queues = await letters.queues(conn, context.seen.id)
        found = None
        if not faults:
            found = await letters.list_page(
                conn,
                context.seen.id,
                filters=LetterFilter(typed["type"].replace("\0", "\ufffd") or None),
                status=typed["status"] or None,
                before=before,
                limit=PAGE_ROWS,
            )
    return context.page(
        "bridge/broker.html",
        queues=queues,
        states=STATES,
        letters=[] if found is None else found.data,
        following=None if found is None else found.next_cursor,
        after=uuid_of(context.query("after")) or "",
        typed=typed,
        faults=faults,
        statuses=STATUSES,
        done=_said_of_many(context) or DONE.get(context.query("done"), ""),
    )


async def show_letter(context: PageContext) -> Response:
    """Show a dead letter with its content."""
    async with context.connection() as conn:
        found = await find_letter(context, conn)
    return context.page(
        "bridge/letter.html",
        letter=found,
        headers=write_json(found.headers, option=orjson.OPT_INDENT_2).decode(),
        done=DONE.get(context.query("done"), ""),
    )


async def find_letter(context: PageContext, conn: Conn) -> DeadLetterDetail:
    """Return the dead letter in the path.

    Raises:
        NotFound: the project has no such dead letter.
    """
    return await letters.show(conn, context.seen.id, context.id_in_path("letter_id", "dead letter"))


def _in_words(counts: Mapping[str, int]) -> str:
    said = [f"{counts[name]} {what}" for name, what in COUNTS.items() if counts.get(name)]
    return ", ".join(said) or "there is none that waits"


def _said_of_many(context: PageContext) -> str:
    """Return what a replay did, which is in the query of the page. Pure."""
    what = context.query("done")
    if what not in ("counted", "replayed_many"):
        return ""
    given = {name: context.query(name) for name in COUNTS}
    counts = {
        name: int(text)
        for name, text in given.items()
        if text.isascii() and text.isdigit() and len(text) < MAX_DIGITS
    }
    begin = "Nothing was done. By today's rules" if what == "counted" else "Replayed"
    more = " More wait: replay those after them." if context.query("more") else ""
    return f"{begin}: {_in_words(counts)}.{more}"


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_broker, menu=MenuEntry("Message broker", "Programs")),
    ConsolePage("GET", LETTER, Right.READ_MESSAGES, show_letter),
)
