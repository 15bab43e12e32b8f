"""Mailgun's API: settings of a domain, which are those of the project or of its DKIM keys here.

What only administrators change is confirmed where it is so already, and refused otherwise.
"""

from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.domains import domains_of
from mailqueue.api.compat.mailgun.address_lists import stamp
from mailqueue.api.compat.mailgun.domain_changes import check_options
from mailqueue.api.compat.mailgun.domains import check_domain, document_of_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import form_of
from mailqueue.api.compat.mailgun.managed.dkim_keys import added_key
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import Forbidden
from mailqueue.domains import keys
from mailqueue.projects import manage

_SENDS = "active"


async def change(call: RequestContext) -> Response:
    """Confirm the options of a domain: each has one value that describes what is done here."""
    await check_domain(call)
    domain = keys.domain_of(call.path["domain"])
    form = await form_of(call)
    check_options(form, "name")
    if (form.one("name") or domain).lower() != domain:
        raise NamedParameter("name", "a domain is not renamed: add the other one")
    document = await document_of_domain(call, domain)
    return json_answer({"message": "Domain has been updated", **document})


async def change_authority(call: RequestContext) -> Response:
    """Confirm that a domain signs with keys of its own, not with those of its parent."""
    await check_domain(call)
    form = await form_of(call)
    form.check_names(("self",))
    given = form.one("self")
    if given is None:
        raise MissingParameter("self")
    if given.lower() not in ("true", "yes"):
        raise NamedParameter("self", "must be true: each domain has keys of its own")
    document = await document_of_domain(call, keys.domain_of(call.path["domain"]))
    return json_answer(
        {
            "message": "Domain DKIM authority has been changed",
            "changed": False,
            "sending_dns_records": document["sending_dns_records"],
        }
    )


async def change_selector(call: RequestContext) -> Response:
    """Add a key with a selector, unless there is one; it signs once its record is in DNS."""
    await check_domain(call)
    domain = keys.domain_of(call.path["domain"])
    form = await form_of(call)
    form.check_names(("dkim_selector",))
    selector = form.one("dkim_selector")
    if selector is None:
        raise MissingParameter("dkim_selector")
    found = [one for own in await domains_of(call) for one in own if one.domain == domain]
    if selector not in [one.selector for one in found]:
        await added_key(call, domain, selector, field="dkim_selector")
    return json_answer({"message": "updated dkim selector"})


async def change_web_prefix(call: RequestContext) -> Response:
    """Confirm the host of links in mail, or refuse to change it."""
    await check_domain(call)
    domain = keys.domain_of(call.path["domain"])
    form = await form_of(call)
    form.check_names(("web_prefix",))
    prefix = form.one("web_prefix")
    if prefix is None:
        raise MissingParameter("web_prefix")
    async with call.connection() as conn:
        project = await manage.find(conn, call.caller.project)
    if f"{prefix.lower()}.{domain}" != (project.tracking_domain or "").lower():
        raise Forbidden("superadmin", "the tracking domain is a setting of the project")
    return json_answer({"message": "updated web prefix"})


async def show_queues(call: RequestContext) -> Response:
    """Show whether mail of the project is sent."""
    await check_domain(call)
    async with call.connection() as conn:
        project = await manage.find(conn, call.caller.project)
    until = project.status_until
    queue: dict[str, Any] = {
        "is_disabled": project.status != _SENDS,
        "disabled": {
            "until": "" if until is None else stamp(until),
            "reason": project.status_reason or "",
        },
    }
    return json_answer({"regular": queue, "scheduled": queue})


_PATH = "/v3/domains/{domain}"
DOMAIN_SETTING_ENDPOINTS = (
    domain_endpoint("PUT", _PATH, "Confirm the options of a domain.", change),
    domain_endpoint(
        "PUT", f"{_PATH}/dkim_authority", "Confirm the DKIM authority.", change_authority
    ),
    domain_endpoint("PUT", f"{_PATH}/dkim_selector", "Add a key with a selector.", change_selector),
    domain_endpoint("PUT", f"{_PATH}/web_prefix", "Confirm the host of links.", change_web_prefix),
    domain_endpoint("GET", f"{_PATH}/sending_queues", "Show whether mail is sent.", show_queues),
)
