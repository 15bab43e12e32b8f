"""`/confirm/{token}`: a contact confirms that it wants mail to a list. GET changes nothing."""

import hashlib
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.api.public.recipient_page import FORM_BOUNDS, Visit
from mailqueue.api.public.rendering import page
from mailqueue.contacts import opt_in
from mailqueue.contacts.opt_in import AskedState, ListToConfirm
from mailqueue.suppression.subscriptions.model import ChoiceSource
from mailqueue.web.forms import read_form


async def confirm(visit: Visit) -> Response:
    """Return the page; a POST of its form first confirms."""
    status = HTTPStatus.OK
    if visit.request.method == "POST":
        form = await read_form(visit.request, FORM_BOUNDS)
        if form.get("action") != "confirm":
            status = HTTPStatus.BAD_REQUEST
        elif not await _confirm(visit, shown=form.get("shown")):
            status = HTTPStatus.CONFLICT
    asked = await _asked(visit)
    if asked is None:
        return page("fault.html", words=visit.words, status=HTTPStatus.NOT_FOUND, what="missing")
    return visit.page(
        "confirm.html",
        status=HTTPStatus.GONE if asked.state is AskedState.EXPIRED else status,
        what=asked.state.value,
        list=_quoted(visit, asked),
        shown=_hash_of(_wording(visit, asked)),
    )


async def _asked(visit: Visit) -> ListToConfirm | None:
    async with visit.connection() as conn:
        return await opt_in.list_to_confirm(conn, visit.reader.project_id, visit.reader.email_id)


async def _confirm(visit: Visit, *, shown: str | None) -> bool:
    """Confirm, with the words of the page as they were shown.

    Returns False, and confirms nothing, where they were changed since: `shown` is the hash of those
    on the page of the form.
    """
    asked = await _asked(visit)
    if asked is None:
        return True
    wording = _wording(visit, asked)
    if shown is not None and shown != _hash_of(wording):
        return False
    origin = visit.origin(ChoiceSource.PAGE)
    async with visit.connection() as conn:
        await opt_in.confirm(
            conn,
            visit.reader.project_id,
            visit.reader.email_id,
            wording=wording,
            agent=origin.user_agent,
            network=origin.network,
        )
    return True


def _wording(visit: Visit, asked: ListToConfirm) -> str:
    """Return the question of the page and the words of its button. Pure."""
    question = visit.words.plain(
        "confirm_question", project=visit.reader.project, list=_quoted(visit, asked)
    )
    return f"{question} {visit.words['confirm_yes']}"


def _quoted(visit: Visit, asked: ListToConfirm) -> str:
    return visit.words.plain("quoted", name=asked.list)


def _hash_of(wording: str) -> str:
    return hashlib.sha256(wording.encode("utf-8", "surrogatepass")).hexdigest()[:32]
