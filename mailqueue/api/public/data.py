"""`/data/{token}`: what is stored about a person, for the person. GET changes nothing."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.analytics.exports import fetching, requests
from mailqueue.api.analytics.exports import file_response
from mailqueue.api.public.recipient_page import FORM_BOUNDS, Visit
from mailqueue.api.public.rendering import page
from mailqueue.contract.exports import DataExport
from mailqueue.core.errors import Conflict
from mailqueue.web.forms import read_form

_WAITING = frozenset({"waiting", "running"})
_BY = "recipient"
"""Actor in the audit."""


async def data(visit: Visit) -> Response:
    """Return the page; a POST of its form returns the file."""
    async with visit.connection() as conn:
        found = await requests.of_email(conn, visit.reader.project_id, visit.reader.email_id)
    if found is None:
        return page("fault.html", words=visit.words, status=HTTPStatus.NOT_FOUND, what="missing")
    if visit.request.method == "POST" and found.state == "done":
        form = await read_form(visit.request, FORM_BOUNDS)
        if form.get("action") == "download":
            try:
                pieces = await fetching.begin_file(
                    visit.connection, visit.reader.project_id, found, by=_BY
                )
            except Conflict:
                return _shown(visit, found, what="gone")
            return file_response(found, pieces)
    return _shown(visit, found, what=_what(found))


def _what(found: DataExport) -> str:
    if found.state in _WAITING:
        return "waiting"
    return {"done": "ready", "failed": "failed"}.get(found.state, "gone")


def _shown(visit: Visit, found: DataExport, *, what: str) -> Response:
    return visit.page(
        "data.html",
        status=HTTPStatus.GONE if what == "gone" else HTTPStatus.OK,
        what=what,
        until=found.expires_at,
    )
