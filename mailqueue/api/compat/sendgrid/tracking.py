"""SendGrid's API: what is tracked unless an email says otherwise, a setting of the project here.

Follows twilio.com/docs/sendgrid/api-reference/settings-tracking. Only administrators change it: a
request for what is set already is answered, any other is refused.
"""

from starlette.responses import Response

from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.sendgrid.suppressions import body_of, refuse_subuser
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.projects import manage

_TITLES = {
    "click": ("Click Tracking", "Rewrites the links of each email to count clicks."),
    "open": ("Open Tracking", "Adds an image to each email to count opens."),
}


class OpenTrackingChange(StrictRequestModel):
    """The body of PATCH /v3/tracking_settings/open."""

    enabled: bool | None = None


class ClickTrackingChange(OpenTrackingChange):
    """The body of PATCH /v3/tracking_settings/click; links in text are not tracked."""

    enable_text: bool | None = None


async def index(call: RequestContext) -> Response:
    """Show what is tracked."""
    refuse_subuser(call.request)
    now = await _tracked(call)
    return json_answer(
        {
            "result": [
                {"name": name, "title": title, "description": words, "enabled": now[name]}
                for name, (title, words) in _TITLES.items()
            ]
        }
    )


async def show_clicks(call: RequestContext) -> Response:
    """Show whether clicks are tracked."""
    refuse_subuser(call.request)
    return json_answer({"enabled": (await _tracked(call))["click"], "enable_text": False})


async def change_clicks(call: RequestContext) -> Response:
    """Confirm whether clicks are tracked."""
    refuse_subuser(call.request)
    body = await body_of(call, ClickTrackingChange)
    if body.enable_text:
        raise InvalidField("enable_text", "links in text are not tracked")
    return json_answer({"enabled": await _confirmed(call, "click", body), "enable_text": False})


async def show_opens(call: RequestContext) -> Response:
    """Show whether opens are tracked."""
    refuse_subuser(call.request)
    return json_answer({"enabled": (await _tracked(call))["open"]})


async def change_opens(call: RequestContext) -> Response:
    """Confirm whether opens are tracked."""
    refuse_subuser(call.request)
    body = await body_of(call, OpenTrackingChange)
    return json_answer({"enabled": await _confirmed(call, "open", body)})


async def _confirmed(call: RequestContext, name: str, body: OpenTrackingChange) -> bool:
    """Return what is set.

    Raises:
        InvalidField: something else is asked for.
    """
    now = (await _tracked(call))[name]
    if body.enabled not in (None, now):
        word = "true" if now else "false"
        raise InvalidField("enabled", f"is {word} here; administrators change projects")
    return now


async def _tracked(call: RequestContext) -> dict[str, bool]:
    async with call.connection() as conn:
        project = await manage.find(conn, call.caller.project)
    return {"click": project.track_clicks, "open": project.track_opens}


_PATH = "/v3/tracking_settings"
TRACKING_ENDPOINTS = (
    domain_endpoint("GET", _PATH, "Show what is tracked.", index),
    domain_endpoint("GET", f"{_PATH}/click", "Show whether clicks are tracked.", show_clicks),
    domain_endpoint("PATCH", f"{_PATH}/click", "Confirm the tracking of clicks.", change_clicks),
    domain_endpoint("GET", f"{_PATH}/open", "Show whether opens are tracked.", show_opens),
    domain_endpoint("PATCH", f"{_PATH}/open", "Confirm the tracking of opens.", change_opens),
)
