"""The overview of a project: today, the last days, sender accounts, domains and bounds."""

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.domains import keys as dkim_keys
from mailqueue.domains.model import DkimKey
from mailqueue.projects import manage as projects_manage
from mailqueue.projects import stats as projects_stats
from mailqueue.senders import accounts
from mailqueue.senders.values import are_trapped, senders_of

PATH = "/console/projects/{project}/overview"
DAYS = 7
SHOWN_ROWS = 10
"""Sender accounts and domains that the overview shows."""
DONE = {
    "added": "The project was created.",
    "suspended": "The project is suspended: its emails are accepted and wait.",
    "activated": "The project is active: its emails are sent.",
    "before": "This was done before, and was not done again.",
}


async def show_overview(context: PageContext) -> Response:
    """Show how a project is doing."""
    name = context.seen.name
    async with context.connection() as conn:
        project = await projects_manage.find_by_id(conn, context.seen.id)
        summary = await projects_stats.look(conn, project.id, days=DAYS)
        all_of = await accounts.list_all(conn, project=name)
        senders = await senders_of(conn, name, all_of)
        domains = domains_of(await dkim_keys.list_keys(conn, project=name))
    return context.page(
        "projects/overview.html",
        project=project,
        summary=summary,
        senders=senders[:SHOWN_ROWS],
        are_trapped=are_trapped(all_of),
        more_senders=max(0, len(senders) - SHOWN_ROWS),
        domains=domains[:SHOWN_ROWS],
        more_domains=max(0, len(domains) - SHOWN_ROWS),
        bounds=[bound for bound in summary.bounds if bound.max is not None],
        done=DONE.get(context.query("done"), ""),
    )


def domains_of(keys: list[DkimKey]) -> list[tuple[str, bool]]:
    """Return the domains that have keys, by name, each with whether an active key signs. Pure."""
    signing = {key.domain for key in keys if key.status is DkimKeyStatus.ACTIVE}
    named = {key.domain for key in keys if key.status is not DkimKeyStatus.REVOKED}
    return [(domain, domain in signing) for domain in sorted(named)]


PAGES = (ConsolePage("GET", PATH, Right.READ, show_overview, menu=MenuEntry("Overview")),)
