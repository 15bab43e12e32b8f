"""`/t/u/{token}`: the unsubscribe button of mail programs (RFC 8058), and its page for people.

GET changes nothing: programs that scan mail follow every link in it.
"""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.api.public.recipient_page import FORM_BOUNDS, Visit
from mailqueue.api.public.rendering import plain
from mailqueue.suppression.subscriptions import choices
from mailqueue.suppression.subscriptions.model import ChoiceSource, Subscriptions
from mailqueue.tracking.tokens import Token, TokenKind
from mailqueue.web.forms import read_form


async def unsubscribe(visit: Visit) -> Response:
    """Return the page; a POST first does what its form requests.

    A mail program gets one line of plain text instead of the page.
    """
    if visit.request.method != "POST":
        return _page(visit, "ask", await _found(visit))
    form = await read_form(visit.request, FORM_BOUNDS)
    # RFC 8058 3.1: the one pair that mail programs send.
    is_one_click = any(
        name.lower() == "list-unsubscribe" and value.strip().lower() == "one-click"
        for name, value in form.items()
    )
    action = "unsubscribe" if is_one_click else form.get("action")
    if action not in ("unsubscribe", "subscribe"):
        # 400, so that the sender of an unknown form does not take it for success.
        return _page(visit, "ask", await _found(visit), status=HTTPStatus.BAD_REQUEST)
    from_all = not is_one_click and form.get("scope") == "all"
    origin = visit.origin(ChoiceSource.ONE_CLICK if is_one_click else ChoiceSource.PAGE)
    async with visit.connection() as conn:
        if action == "subscribe":
            found = await choices.subscribe_again(conn, visit.reader, origin=origin)
        else:
            found = await choices.unsubscribe(conn, visit.reader, from_all=from_all, origin=origin)
    if is_one_click:
        return plain("done_title", words=visit.words)  # mail programs show no page
    return _page(visit, "again" if action == "subscribe" else "done", found, was_all=from_all)


async def _found(visit: Visit) -> Subscriptions:
    async with visit.connection() as conn:
        return await choices.subscriptions_of(conn, visit.reader)


def _page(
    visit: Visit,
    what: str,
    found: Subscriptions,
    *,
    was_all: bool = False,
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    words, token = visit.words, visit.token
    preferences = visit.seals.seal(Token(TokenKind.PREFERENCES, token.email_id, token.recipient))
    # The category of the mail, unless it is required: then no recipient can unsubscribe from it.
    own = next(
        (
            one
            for one in found.categories
            if one.slug == visit.reader.category and not one.is_required
        ),
        None,
    )
    return visit.page(
        "unsubscribe.html",
        status=status,
        what=what,
        category=own and words["quoted"].format(name=words.name_of(own)),
        was_all=was_all or own is None,
        preferences=f"/pref/{preferences}",
    )
