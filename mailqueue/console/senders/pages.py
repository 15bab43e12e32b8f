"""The sender accounts of a project, and one of them: state, limits, recent failures, a test."""

from dataclasses import dataclass

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.senders.finding import PATH, SENDER, account_in_path
from mailqueue.console.senders.trying import TriedSender, try_account
from mailqueue.core.errors import NotFound
from mailqueue.senders import accounts, health
from mailqueue.senders.values import are_trapped, senders_of
from mailqueue.web.rendering import sentence

PAGE_ROWS = 50
DONE = {
    "changed": "The account was changed. Workers use the new values within a second.",
    "activated": "The account sends again.",
    "preferred": "The account is tried first.",
    "removed": "The account and its credentials were removed.",
    "before": "This was done before, and was not done again.",
}
BAR_HEIGHT = 100
"""Height of the highest bar of the chart of a warm-up."""


@dataclass(frozen=True, slots=True)
class WarmUpDay:
    """A day of warm-up, from 1; `height` of its bar is 1 to `BAR_HEIGHT`."""

    day: int
    limit: int
    height: int
    is_today: bool


def warm_up_days(stages: list[int], stage: int | None) -> list[WarmUpDay]:
    """Return the days of a warm-up; `stage` is the day it is in, None once it is over. Pure."""
    most = max(stages, default=1)
    return [
        WarmUpDay(day, limit, max(1, round(BAR_HEIGHT * limit / most)), day == stage)
        for day, limit in enumerate(stages, start=1)
    ]


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
        done=DONE.get(context.query("done"), ""),
    )


async def show_sender(context: PageContext) -> Response:
    """Show one account: why it sends or does not, what is left of its limits, its last errors.

    Raises:
        NotFound: the project has no such account.
    """
    return await _shown(context)


async def try_sender(context: PageContext) -> Response:
    """Connect to the server of the account and log in; show what it answered.

    Raises:
        NotFound: the project has no such account.
        Conflict: the password cannot be decrypted, or this process tests no accounts.
    """
    return await _shown(
        context, await try_account(context, lambda conn: account_in_path(context, conn))
    )


async def _shown(context: PageContext, tried: TriedSender | None = None) -> Response:
    name = context.seen.name
    async with context.connection() as conn:
        account = await account_in_path(context, conn)
        all_of = await accounts.list_all(conn, project=name)
        sender = next(
            (one for one in await senders_of(conn, name, all_of) if one.id == account.public_id),
            None,
        )
        if sender is None:
            raise NotFound("limit of sender account", account.name)
        found = await health.of_account(conn, name, name=account.name)
        today = (await accounts.headroom_by_id(conn, [account]))[account.id]
    return context.page(
        "senders/sender.html",
        sender=sender,
        health=found,
        advice=sentence(found.recommendation),
        has_api=account.provider.has_api,
        today=today,
        days=warm_up_days(list(account.warm_up or ()), today.warm_up_stage),
        tried=tried,
        done=DONE.get(context.query("done"), ""),
    )


PAGES = (
    ConsolePage(
        "GET", PATH, Right.READ, show_senders, menu=MenuEntry("Sender accounts", "Sending")
    ),
    ConsolePage("GET", SENDER, Right.READ, show_sender),
    ConsolePage("POST", f"{SENDER}/try", Right.CONFIGURE, try_sender, keeps=()),
)
