"""`/t/u/{token}`: the button of mail programs (RFC 8058), and a page for those who follow the link.

To look changes nothing, however often: what scans mail follows every link in it.
"""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.api.public.rendering import page
from mailqueue.api.public.visiting import Visit, form_of
from mailqueue.suppression.subscriptions import choices
from mailqueue.suppression.subscriptions.model import Said, Source, Subscriptions
from mailqueue.tracking.tokens import Kind

# RFC 8058 3.1: the one pair that mail programs send.
_ONE_CLICK = ("List-Unsubscribe", "One-Click")


async def unsubscribe(visit: Visit) -> Response:
    """Show the page, or do what a form of it or a mail program asks, at once."""
    if visit.request.method != "POST":
        return await _shown(visit, "ask")
    form = await form_of(visit.request)
    if _is_one_click(form):
        await _leave(visit, from_all=False, source=Source.ONE_CLICK)
        return await _shown(visit, "done", was_all=False)
    match form.get("action"):
        case "unsubscribe":
            from_all = form.get("scope") == "all"
            await _leave(visit, from_all=from_all, source=Source.PAGE)
            return await _shown(visit, "done", was_all=from_all)
        case "subscribe":
            async with visit.connection() as conn:
                said = Said(Source.PAGE, visit.user_agent)
                await choices.subscribe_again(conn, visit.reader, said=said)
            return await _shown(visit, "again")
        case _:  # whoever sent this must not take it for done
            return await _shown(visit, "ask", status=HTTPStatus.BAD_REQUEST)


def _is_one_click(form: dict[str, str]) -> bool:
    name, value = _ONE_CLICK
    return any(
        one.lower() == name.lower() and given.strip().lower() == value.lower()
        for one, given in form.items()
    )


async def _leave(visit: Visit, *, from_all: bool, source: Source) -> None:
    said = Said(source, visit.user_agent)
    async with visit.connection() as conn:
        await choices.unsubscribe(conn, visit.reader, from_all=from_all, said=said)


async def _shown(
    visit: Visit, what: str, *, was_all: bool = False, status: HTTPStatus = HTTPStatus.OK
) -> Response:
    async with visit.connection() as conn:
        found = await choices.subscriptions_of(conn, visit.reader)
    words = visit.words
    name = _name_of_mail(visit, found)
    return page(
        "unsubscribe.html",
        words=words,
        color=visit.reader.brand_color,
        status=status,
        project=visit.reader.project,
        address=visit.shown_address,
        what=what,
        category=name and words.quoted(name),
        was_all=was_all or name is None,
        preferences=visit.path_to(Kind.PREFERENCES),
    )


def _name_of_mail(visit: Visit, found: Subscriptions) -> str | None:
    """Name the category that the mail is of; None where nobody can leave it."""
    for one in found.categories:
        if one.slug == visit.reader.category and not one.is_required:
            return visit.words.name_of(one)
    return None
