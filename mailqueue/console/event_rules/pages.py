"""The event rules of a project, and what one does with the events of its type."""

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.named_lines import lines_of
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.automation.inbox import EventRule
from mailqueue.db.fetch import Conn
from mailqueue.inbox import rules

PATH = "/console/projects/{project}/event-rules"
RULE = f"{PATH}/{{rule}}"
NEW = f"{PATH}/~new"
"""The name of a rule cannot begin with ~."""
ACTIONS = {
    "mail": "queue an email",
    "cancel": "cancel emails under a key",
    "enroll": "enroll the recipient in a sequence",
    "leave": "end what the recipient has in sequences",
    "record": "record the event for conditions and goals of sequences",
}
"""What a rule does, in words."""
DONE = {
    "added": "The rule was added. It does nothing until you enable it.",
    "changed": "The rule was changed. It acts so on events that come from now on.",
    "enabled": "The rule is enabled: it acts on events that come from now on.",
    "paused": "The rule is paused: it does nothing with events that come from now on.",
    "removed": "The rule was removed.",
    "before": "This was done before, and was not done again.",
}


async def show_rules(context: PageContext) -> Response:
    """List rules by name."""
    async with context.connection() as conn:
        found = await rules.list_(conn, context.seen.id)
    return context.page(
        "event_rules/list.html",
        rules=found,
        actions=ACTIONS,
        done=DONE.get(context.query("done"), ""),
    )


async def show_rule(context: PageContext) -> Response:
    """Show one rule."""
    async with context.connection() as conn:
        found = await find_rule(context, conn)
    return context.page(
        "event_rules/rule.html",
        rule=found,
        actions=ACTIONS,
        variables=lines_of(found.variables),
        done=DONE.get(context.query("done"), ""),
    )


async def find_rule(context: PageContext, conn: Conn) -> EventRule:
    """Return the rule in the path.

    Raises:
        NotFound: the project has no such rule.
    """
    name: str = context.request.path_params["rule"]
    return await rules.get(conn, context.seen.id, name.replace("\0", "\ufffd"))


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_rules, menu=MenuEntry("Event rules", "Automatic")),
    ConsolePage("GET", RULE, Right.READ, show_rule),
)
