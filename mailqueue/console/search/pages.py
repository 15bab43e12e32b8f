"""Search from every page: what an id, an address, a name or a part of a subject stands for."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from urllib.parse import urlencode

from starlette.responses import Response

from mailqueue.admin.users import seeing
from mailqueue.admin.users.model import SeenProject
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.frame.router import HOME
from mailqueue.console.recipients.pages import RECIPIENTS
from mailqueue.contract.search import Match
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import NotFound
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailPage, EmailQuery
from mailqueue.operations import search

FIND = "/console/find"
TITLES = {
    "email": "Emails",
    "batch": "Batches",
    "recipient": "Recipients",
    "project": "Projects",
    "template": "Templates",
    "archive": "Archive",
}
"""Titles of groups of matches, in their order."""
MAX_SEARCHED = 5
"""Projects whose newest emails are searched for a part of a subject or an address."""
MAX_FOUND = 5
"""Emails of each of them that are shown."""
LEAST = 3
"""Characters that such a part has at least."""
SHORT = 5
"""Matches of each kind below the field, at a pause of typing."""
MAX_PROJECTS = 20
"""Projects that are offered for an address that no email went to."""


async def find(context: PageContext) -> Response:
    """Go to what the text names, if it names one thing; else list what it names."""
    text = context.query("q")
    if not text:
        return context.redirect(HOME)
    found = await _matches(context, text, limit=search.MAX_MATCHES)
    if len(found) == 1 and (path := path_of(found[0])):
        return context.redirect(path)
    if found and all(match.kind == "recipient" for match in found):
        return context.redirect(f"{RECIPIENTS}?{urlencode({'address': text})}")
    offered = await _projects_for(context, text, found)
    parts = [] if found else await _containing(context, text)
    if len(offered) == 1 and not found and not parts:
        return context.redirect(project_path(offered[0], "recipient", address=text))
    return context.page(
        "search/results.html",
        status=200 if found or offered or parts else 404,
        text=text,
        groups=grouped(found),
        offered=offered,
        parts=parts,
        looked=emails.MAX_LOOKED // MAX_SEARCHED,
        path_of=path_of,
    )


async def suggest(context: PageContext) -> Response:
    """Show the first matches below the field; a script asks for them at each pause of typing."""
    text = context.query("q")
    found = await _matches(context, text, limit=SHORT) if len(text) > 1 else []
    return context.page(
        "search/suggestions.html", text=text, groups=grouped(found), path_of=path_of
    )


def grouped(found: Sequence[Match]) -> list[tuple[str, list[Match]]]:
    """Return matches by the title of their kind, in the order of TITLES. Pure."""
    order = list(TITLES)
    by_kind = sorted(found, key=lambda match: order.index(match.kind))
    return [
        (TITLES[kind], list(some)) for kind, some in groupby(by_kind, key=lambda match: match.kind)
    ]


def path_of(match: Match) -> str:
    """Return the path of the page of a match; empty without one. Pure."""
    if match.project is None:
        return ""
    parts: dict[str, str] = {
        "email": project_path(match.project, "emails", match.id),
        "batch": project_path(match.project, "emails", batch=match.id),
        "recipient": project_path(match.project, "recipient", address=match.id),
        "project": project_path(match.project, "emails"),
        "template": project_path(match.project, "templates", match.id),
    }
    return parts[match.kind]


async def _matches(context: PageContext, text: str, *, limit: int) -> list[Match]:
    """Return what a text names; in the project of the page first."""
    async with context.console.lend() as conn:
        found = await search.search_for_user(conn, context.user.user_id, text, limit=limit)
    here = context.query("project")
    return sorted(found, key=lambda match: match.project != here)


async def _containing(context: PageContext, text: str) -> list[tuple[SeenProject, EmailPage]]:
    """Return projects with the newest of their emails that contain a text.

    The project of the page comes first.
    """
    if len(text) < LEAST or len(text) > search.MAX_CHARACTERS:
        return []
    async with context.console.lend() as conn:
        user, here = context.user.user_id, context.query("project")
        seen = await seeing.list_projects(conn, user, limit=MAX_SEARCHED)
        if here and here not in {project.name for project in seen}:
            with suppress(NotFound):
                seen = [await seeing.project(conn, user, here), *seen[: MAX_SEARCHED - 1]]
    parts = []
    for project in sorted(seen, key=lambda each: each.name != here):
        query = EmailQuery(project_id=project.id, contains=text, limit=MAX_FOUND)
        async with context.connection_for(project) as conn:
            page = await emails.search_page(conn, query, looked=emails.MAX_LOOKED // MAX_SEARCHED)
        if page.emails or page.is_cut:
            parts.append((project, page))
    return parts


async def _projects_for(context: PageContext, text: str, found: Sequence[Match]) -> list[str]:
    """Return the projects whose page of an address is offered besides those that were found.

    Unfinished emails of a deep queue are not searched for an address, and a colleague may ask why
    an address gets nothing at all.
    """
    try:
        parse_address(text)
    except InvalidAddress:
        return []
    known = {match.project for match in found if match.kind == "recipient"}
    async with context.console.lend() as conn:
        seen = await seeing.list_projects(conn, context.user.user_id, limit=MAX_PROJECTS + 1)
    names = [project.name for project in seen[:MAX_PROJECTS]]
    here = context.query("project")
    if here and here not in names and len(seen) > MAX_PROJECTS:
        names.insert(0, here)
    names.sort(key=lambda name: name != here)
    return [name for name in names if name not in known]


PAGES = (
    ConsolePage("GET", FIND, Access.SIGNED_IN, find),
    ConsolePage("GET", f"{FIND}/suggestions", Access.SIGNED_IN, suggest),
)
