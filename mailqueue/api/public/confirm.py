"""`/confirm/{token}`: a contact confirms that it wants mail to a list. GET changes nothing."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.api.public.recipient_page import FORM_BOUNDS, Visit
from mailqueue.api.public.rendering import page
from mailqueue.contacts import opt_in
from mailqueue.contacts.opt_in import Asked, AskedState
from mailqueue.suppression.subscriptions.model import ChoiceSource
from mailqueue.web.forms import read_form


async def confirm(visit: Visit) -> Response:
    """Return the page; a POST of its form first confirms."""
    status = HTTPStatus.OK
    if visit.request.method == "POST":
        form = await read_form(visit.request, FORM_BOUNDS)
        if form.get("action") == "confirm":
            await _confirm(visit)
        else:
            status = HTTPStatus.BAD_REQUEST
    asked = await _asked(visit)
    if asked is None:
        return page("fault.html", words=visit.words, status=HTTPStatus.NOT_FOUND, what="missing")
    return visit.page(
        "confirm.html",
        status=HTTPStatus.GONE if asked.state is AskedState.EXPIRED else status,
        what=asked.state.value,
        list=visit.words["quoted"].format(name=asked.list),
    )


async def _asked(visit: Visit) -> Asked | None:
    async with visit.connection() as conn:
        return await opt_in.asked(conn, visit.reader.project_id, visit.reader.email_id)


async def _confirm(visit: Visit) -> None:
    """Confirm, with the words of the page as they were shown."""
    asked = await _asked(visit)
    if asked is None:
        return
    words = visit.words
    name = words["quoted"].format(name=asked.list)
    question = words["confirm_question"].format(project=visit.reader.project, list=name)
    origin = visit.origin(ChoiceSource.PAGE)
    async with visit.connection() as conn:
        await opt_in.confirm(
            conn,
            visit.reader.project_id,
            visit.reader.email_id,
            wording=f"{question} {words['confirm_yes']}",
            agent=origin.user_agent,
            network=origin.network,
        )
