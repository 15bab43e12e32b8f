"""The routing rules of a project: listed, added, removed, and tried with an email."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.senders import Candidate, Route
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.senders.routes import manage
from mailqueue.senders.routes.model import NewRoute
from mailqueue.web.rendering import sentence
from mailqueue.web.schemas import FormSchema, TextLines

PATH = "/console/projects/{project}/routes"
DONE = {
    "added": "The rule was added. Emails that are accepted from now on follow it.",
    "removed": "The rule was removed. Its queued emails use the accounts of emails without a rule.",
    "before": "This was done before, and was not done again.",
}
_TRIED = ("recipient", "category", "tag")
_MAX_DIGITS = 9


class RouteForm(FormSchema):
    """The form of a routing rule."""

    category: Annotated[str | None, Field(max_length=63)] = None
    """Category of the email (any if empty)"""
    tag: Annotated[str | None, Field(max_length=255)] = None
    """Tag of the email (any if empty)"""
    domain: Annotated[str | None, Field(max_length=255)] = None
    """Domain of the recipient (any if empty):
    example.com, or *.example.com for its subdomains"""
    sender_names: Annotated[str, TextLines(), Field(max_length=2_000)]
    """Sender accounts:
    one name a line, in the order in which they are tried"""
    position: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Place among the rules (the last if empty):
    the first rule that matches applies"""
    note: Annotated[str | None, Field(max_length=500)] = None
    """Note (optional)"""


async def show_rules(context: PageContext) -> Response:
    """List rules in the order in which they are matched, and what sends an email that is typed."""
    typed = {name: context.query(name) for name in _TRIED}
    candidates: Sequence[Candidate] | None = None
    faults: dict[str, str] = {}
    async with context.connection() as conn:
        rules = await manage.list_all(conn, project=context.seen.name)
        if typed["recipient"]:
            try:
                candidates = await manage.candidates(
                    conn,
                    context.seen.name,
                    recipient=typed["recipient"],
                    category=typed["category"] or "transactional",
                    tags=[typed["tag"]] if typed["tag"] else [],
                )
            except InvalidField as exc:
                faults[exc.field] = sentence(exc.why)
    return context.page(
        "routing/list.html",
        rules=rules,
        typed=typed,
        faults=faults,
        candidates=candidates,
        position=_position(rules, candidates),
        done=DONE.get(context.query("done"), ""),
    )


async def add(context: PageContext, conn: Conn, form: RouteForm) -> str:
    """Add a rule; return the path of the list."""
    names = tuple(line.strip() for line in form.sender_names.splitlines() if line.strip())
    new = NewRoute(names, form.category, form.tag, form.domain, form.position, form.note)
    try:
        await manage.add(conn, context.seen.name, new=new, by=context.user.by)
    except InvalidField as exc:
        field = "sender_names" if exc.field == "sender" else exc.field
        raise InvalidField(field, exc.why) from None
    return project_path(context.seen.name, "routes", done="added")


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what follows when the rule goes."""
    found = await _find(context, conn)
    return ActPreview(
        f"the rule for {condition_of(found)}",
        "Its queued emails use the accounts of emails without a rule.",
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Remove the rule; return the path of the list."""
    found = await _find(context, conn)
    await manage.remove(conn, context.seen.name, rule_id=found.rule_id, by=context.user.by)
    return project_path(context.seen.name, "routes", done="removed")


def condition_of(rule: Route) -> str:
    """Return which emails a rule matches, in words. Pure."""
    said = [
        f"{what} {value}"
        for what, value in (
            ("category", rule.category),
            ("tag", rule.tag),
            ("recipients at", rule.domain),
        )
        if value is not None
    ]
    return ", ".join(said)


async def _find(context: PageContext, conn: Conn) -> Route:
    """Return the rule in the path.

    Raises:
        NotFound: the project has no such rule.
    """
    given: str = context.request.path_params["route_id"]
    if given.isascii() and given.isdigit() and len(given) <= _MAX_DIGITS:
        for each in await manage.list_all(conn, project=context.seen.name):
            if each.rule_id == int(given):
                return each
    raise NotFound("routing rule", given.replace("\0", "?")[:100])


def _position(rules: Sequence[Route], candidates: Sequence[Candidate] | None) -> int | None:
    """Return the place of the rule that chose accounts; None if none did. Pure."""
    chosen = {each.rule_id for each in candidates or ()}
    return next((rule.position for rule in rules if rule.rule_id in chosen), None)


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_rules, menu=MenuEntry("Routing rules", "Sending")),
    *form_pages(
        f"{PATH}/new",
        Right.CONFIGURE,
        FormPage(
            "New routing rule",
            "Add the rule",
            RouteForm,
            add,
            lead="Which accounts send the emails that name none: by category, tag or domain, of "
            "which at least one is needed.",
            consequence="While no account of the rule may send, its emails wait and use no other "
            "account.",
        ),
    ),
    *button_pages(
        f"{PATH}/{{route_id}}/remove",
        Right.CONFIGURE,
        ActPage("Remove", "Remove the rule", preview_removal, remove, is_destructive=True),
    ),
)
