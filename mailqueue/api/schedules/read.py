"""Read requests for schedules into the fields of the SQL function put_schedule."""

from typing import Any

from mailqueue.api.http.context import RequestContext
from mailqueue.api.schedules.schema import ScheduleRequest
from mailqueue.api.sending.prepare import routed
from mailqueue.api.sending.service import options_for, renamed
from mailqueue.core.errors import InvalidField

_OWN = ("schedule_type", "name", "run_at", "cron_expression", "timezone", "language")
_RULES = ("template_slug", "missed", "overlap", "ends_at", "max_runs", "spread_seconds")


async def definition(call: RequestContext) -> dict[str, Any]:
    """Return the schedule of a request as SQL takes it.

    Raises:
        InvalidField: a test key that names a sender other than the trap.
    """
    body: ScheduleRequest = call.body
    wanted = await routed(call, body.payload)
    options = options_for(call.caller, wanted.options())
    options.pop("is_test", None)
    words = {"subject": wanted.subject, "html": wanted.html_body, "text": wanted.text_body}
    payload = {name: value for name, value in words.items() if value is not None} | options
    if wanted.variables:
        payload["variables"] = wanted.variables
    payload["to"] = [
        one if isinstance(one, str) else one.model_dump(exclude_none=True) for one in wanted.to
    ]
    given = {name: getattr(body, name) for name in (*_OWN, *_RULES)}
    if body.template_version is not None:
        given["template_version"] = str(body.template_version)
    found = {name: value for name, value in given.items() if value is not None}
    return found | {"payload": payload, "is_test": call.caller.is_test}


def in_payload(fault: InvalidField) -> InvalidField:
    """Return a refusal with the field's name in the request. Pure."""
    if fault.field in ScheduleRequest.model_fields:
        return fault
    named = renamed(fault)
    own = named.field in ScheduleRequest.model_fields
    return named if own else named.named(f"payload.{named.field}")
