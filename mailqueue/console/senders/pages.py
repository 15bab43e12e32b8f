"""The sender accounts of a project, and one of them: state, limits, recent failures."""

import shlex
from uuid import UUID

from starlette.responses import Response

from mailqueue.administration.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.errors import NotFound
from mailqueue.senders import accounts, health
from mailqueue.senders.values import are_trapped, senders_of
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/senders"
SENDER = f"{PATH}/{{sender}}"
PAGE_ROWS = 50


async def show_senders(context: PageContext) -> Response:
    """List the accounts in the order in which they are tried, after the one that was asked for."""
    name, after = context.seen.name, context.query("after")
    async with context.connection() as conn:
        all_of = await accounts.list_all(conn, project=name)
        found = await senders_of(conn, name, all_of)
    names = [each.name for each in found]
    begin = names.index(after) + 1 if after in names else 0
    shown = found[begin : begin + PAGE_ROWS]
    return context.page(
        "senders/list.html",
        senders=shown,
        are_trapped=are_trapped(all_of),
        following=shown[-1].name if len(found) > begin + PAGE_ROWS else None,
    )


async def show_sender(context: PageContext) -> Response:
    """Show one account: why it sends or does not, what is left of its limits, its last errors.

    Raises:
        NotFound: the project has no such account.
    """
    given: str = context.request.path_params["sender"]
    async with context.connection() as conn:
        all_of = await accounts.list_all(conn, project=context.seen.name)
        for sender in await senders_of(conn, context.seen.name, all_of):
            if str(sender.id) == _canonical(given):
                found = await health.of_account(conn, context.seen.name, name=sender.name)
                name = context.seen.name
                command = ["mailqueue", "sender", "resume", sender.name, "--project", name]
                return context.page(
                    "senders/sender.html",
                    sender=sender,
                    health=found,
                    advice=sentence(found.recommendation),
                    resume_command=shlex.join(command),
                )
    raise NotFound("sender account", given.replace("\0", "?")[:100])


def _canonical(given: str) -> str | None:
    try:
        return str(UUID(given))
    except ValueError:
        return None


PAGES = (
    ConsolePage(
        "GET", PATH, Right.READ, show_senders, menu=MenuEntry("Sender accounts", "Sending")
    ),
    ConsolePage("GET", SENDER, Right.READ, show_sender),
)
