"""Mailgun's API: the tracking of a domain, which is a setting of the project here.

It is the same for each domain, and only administrators change it: a request for what is set already
is answered, any other is refused with the permission that is needed.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import NamedParameter
from mailqueue.api.compat.mailgun.form import form_of
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import Forbidden
from mailqueue.projects import manage

_YES = ("yes", "true", "htmlonly")
_NO = ("no", "false")
_Handler = Callable[[RequestContext], Awaitable[Response]]
_FIELDS = {
    "open": ("active", "place_at_the_top"),
    "click": ("active",),
    "unsubscribe": ("active", "html_footer", "text_footer"),
}


async def show(call: RequestContext) -> Response:
    """Show what is tracked unless a message says otherwise."""
    await check_domain(call)
    return json_answer({"tracking": await _tracking(call)})


async def _tracking(call: RequestContext) -> dict[str, dict[str, Any]]:
    async with call.connection() as conn:
        found = await manage.find(conn, call.caller.project)
    return {
        "open": {"active": found.track_opens, "place_at_the_top": False},
        "click": {"active": "htmlonly" if found.track_clicks else False},
        "unsubscribe": {"active": False, "html_footer": "", "text_footer": ""},
    }


def changing(kind: str) -> _Handler:
    """Return the handler that confirms a setting, or refuses to change it."""

    async def change(call: RequestContext) -> Response:
        await check_domain(call)
        form = await form_of(call)
        form.check_names(_FIELDS[kind])
        wanted = (form.one("active") or "").lower()
        if wanted not in (*_YES, *_NO, ""):
            raise NamedParameter("active", "must be yes or no")
        for name in _FIELDS[kind][1:]:
            if (form.one(name) or "no").lower() not in _NO:
                raise NamedParameter(name, "is not supported")
        now = (await _tracking(call))[kind]
        if wanted and (wanted in _YES) != bool(now["active"]):
            if kind == "unsubscribe":
                why = "is not supported: write %unsubscribe_url% into messages"
                raise NamedParameter("active", why)
            raise Forbidden("superadmin", "tracking is a setting of the project")
        message = "Domain tracking settings have been updated"
        return json_answer({"message": message, kind: now})

    return change


_PATH = "/v3/domains/{domain}/tracking"
TRACKING_ENDPOINTS = (
    domain_endpoint("GET", _PATH, "Show what is tracked.", show),
    *(
        domain_endpoint("PUT", f"{_PATH}/{kind}", f"Confirm the tracking: {kind}.", changing(kind))
        for kind in _FIELDS
    ),
)
