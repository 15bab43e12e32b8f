"""Postmark's API: the server of a token, which is its project.

Only administrators change a project: a request for what is set already is answered, any other is
refused.
"""

from typing import Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_pascal
from starlette.responses import Response

from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, PostmarkRefusal
from mailqueue.api.compat.postmark.reading import body_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.projects import manage
from mailqueue.webhooks.formats.postmark import SERVER_ID


class ChangedServer(StrictRequestModel):
    """The body of PUT /server."""

    model_config = ConfigDict(alias_generator=to_pascal)

    name: StorableText | None = None
    color: StorableText | None = None
    smtp_api_activated: bool | None = None
    raw_email_enabled: bool | None = None
    delivery_type: StorableText | None = None
    track_opens: bool | None = None
    track_links: StorableText | None = None


async def show(call: RequestContext) -> Response:
    """Show the project of a token, in the form of Postmark's server."""
    return json_answer(await _shown(call))


async def change(call: RequestContext) -> Response:
    """Confirm what is set already.

    Raises:
        PostmarkRefusal: a field asks for something else.
    """
    body = await body_of(call, ChangedServer)
    now = await _shown(call)
    for field, wanted in body.model_dump(by_alias=True, exclude_none=True).items():
        if wanted != now[field]:
            why = f"'{field}' is {now[field]} here; administrators change projects."
            raise PostmarkRefusal(ErrorCode.INVALID_EMAIL, why)
    return json_answer(now)


async def _shown(call: RequestContext) -> dict[str, Any]:
    async with call.connection() as conn:
        project = await manage.find(conn, call.caller.project)
    return {
        "ID": SERVER_ID,
        "Name": project.name,
        "ApiTokens": [],
        "Color": "blue",
        "SmtpApiActivated": True,
        "RawEmailEnabled": False,
        "DeliveryType": "Sandbox" if call.caller.is_test else "Live",
        "ServerLink": "",
        "TrackOpens": project.track_opens,
        "TrackLinks": "HtmlOnly" if project.track_clicks else "None",
    }


SERVER_ENDPOINTS = (
    Endpoint(
        "GET",
        "/server",
        None,
        "Show the server of the token.",
        show,
        test_keys=ForTestKeys.READ,
    ),
    domain_endpoint("PUT", "/server", "Confirm the settings of the server.", change),
)
