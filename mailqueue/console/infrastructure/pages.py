"""The infrastructure: workers, queues, blocked lanes, circuits, and every check of the doctor."""

from collections.abc import Mapping
from functools import partial

from starlette.responses import Response

from mailqueue.admin import boards, infrastructure
from mailqueue.admin.users.model import Right, SeenProject
from mailqueue.console.frame.context import Console, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.live.stream import LiveView, read_now, stream
from mailqueue.db.fetch import Conn
from mailqueue.operations import queues, services
from mailqueue.operations.model import BLOCKED_WORDS
from mailqueue.stream import consumers

PATH = "/console/infrastructure"
MAX_ROWS = 200
"""Rows of each table that are shown."""
READ_SECONDS = 5.0
"""Seconds between two reads for all open pages."""
DONE = {
    "paused": "All sending is paused. Workers finish what they hold.",
    "resumed": "Emails are sent again.",
    "drained": "The worker claims nothing more. It can be stopped when it holds nothing.",
    "claims": "The worker claims again.",
    "over": "It had ended before.",
    "before": "This was done before, and was not done again.",
}
SECTIONS = (
    "checks",
    "services",
    "workers",
    "queues",
    "consumers",
    "lanes",
    "circuits",
    "disk",
    "partitions",
    "tasks",
)
CHECKS: Mapping[str, frozenset[str]] = {
    "services": frozenset({"services"}),
    "workers": frozenset({"workers", "lost workers"}),
    "queues": frozenset({"work queues", "rows that stop workers", "webhook backlog"}),
    "consumers": frozenset({"consumers"}),
    "lanes": frozenset({"movement", "sending", "paused"}),
    "circuits": frozenset({"stopped accounts", "sender accounts"}),
    "disk": frozenset({"free space", "size limit", "acceptance", "replication slots"}),
    "partitions": frozenset({"partitions"}),
    "tasks": frozenset({"maintenance", "audit", "dead rows", "autovacuum"}),
}
"""Names of the checks of each section, as the doctor has them."""


async def read_infrastructure(
    rights: frozenset[Right],
    console: Console,
    conn: Conn,
    project: SeenProject | None,  # noqa: ARG001
) -> Mapping[str, object]:
    """Return the parts of the installation, and what its checks found."""
    await console.activity.refresh(conn)
    checks = await boards.health(conn)
    partitions, disk = await console.storage.current(conn)
    dropped = [each.dropped_from for each in partitions if each.dropped_from]
    return {
        "now": console.activity.snapshot(),
        "services": await services.list_all(conn),
        "workers": await boards.workers(conn),  # at this moment: one may just have been drained
        "health": boards.health_of(checks),
        "levels_of": {
            section: [each for each in checks if each.name in names]
            for section, names in CHECKS.items()
        },
        "consumers": await consumers.list_all(conn),
        "partitions": partitions,
        "next_dropped": min(dropped, default=None),
        "disk": disk,
        "tasks": await infrastructure.tasks(conn),
        "circuits": [each for each in await boards.providers(conn) if each.circuit != "closed"],
        "keys": await queues.keys(conn),
        "blocked_words": BLOCKED_WORDS,
        "may_drain": Right.ADMINISTER in rights,
        "most": MAX_ROWS,
    }


async def show_infrastructure(context: PageContext) -> Response:
    """Show the parts of the installation, and what its checks found."""
    _, parts = await read_now(context, _view_of(context))
    done = DONE.get(context.query("done"), "")
    return context.page("infrastructure/infrastructure.html", parts=parts, done=done)


async def changes(context: PageContext) -> Response:
    """Return what changes on the page."""
    return await stream(context, _view_of(context))


def _view_of(context: PageContext) -> LiveView:
    rights = context.user.rights
    return LiveView(
        "infrastructure",
        Right.READ,
        partial(read_infrastructure, rights),
        {name: f"infrastructure/{name}.html" for name in SECTIONS},
        seconds=READ_SECONDS,
        rights=rights,
    )


PAGES = (
    ConsolePage(
        "GET",
        PATH,
        Right.READ,
        show_infrastructure,
        needs_all=True,
        menu=MenuEntry("Infrastructure"),
    ),
    ConsolePage("GET", f"{PATH}/live", Right.READ, changes, needs_all=True),
)
