"""SendGrid's API: authenticated domains, which are those that the project has DKIM keys of.

Follows twilio.com/docs/sendgrid/api-reference/domain-authentication. The id of a domain is a number
made from the project and its name, which stays when its keys are replaced.
"""

from http import HTTPStatus
from typing import Annotated, Any
from uuid import uuid5

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.domains import (
    add_domain,
    domains_of,
    is_verified,
    look_up_domain,
    remove_domain,
)
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.suppressions import (
    MAX_NUMBER,
    body_of,
    no_content,
    refuse_subuser,
)
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.domains.model import DkimKey
from mailqueue.domains.publication import Publication, RecordState
from mailqueue.webhooks.formats.values import number_of

MAX_LISTED = 500
_Ips = Annotated[list[StorableText], Field(max_length=100)]


class SendGridDomain(StrictRequestModel):
    """The body of POST /v3/whitelabel/domains."""

    domain: StorableText = Field(min_length=1, max_length=300)
    custom_dkim_selector: StorableText | None = None
    subdomain: StorableText | None = None
    username: StorableText | None = None
    ips: _Ips | None = None
    region: StorableText | None = None
    automatic_security: bool = False
    custom_spf: bool = False
    default: bool = False


class SendGridDomainQuery(RequestModel):
    """The query of GET /v3/whitelabel/domains; there are no subusers."""

    domain: StorableText | None = None
    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    offset: int = Field(default=0, ge=0, le=MAX_NUMBER)
    exclude_subusers: bool | None = None


async def create(call: RequestContext) -> Response:
    """Add a domain: a DKIM key, pending until its record is in DNS."""
    refuse_subuser(call.request)
    body = await body_of(call, SendGridDomain)
    for name in ("automatic_security", "custom_spf", "default", "subdomain", "username", "ips"):
        if getattr(body, name):
            raise InvalidField(name, "is not supported: the record to publish is that of DKIM")
    try:
        found = await add_domain(call, body.domain, selector=body.custom_dkim_selector)
    except InvalidField as exc:
        raise exc.named(_NAMES.get(exc.field, exc.field)) from exc
    return json_answer(_shown(call, found), status=HTTPStatus.CREATED)


_NAMES = {"selector": "custom_dkim_selector"}


async def index(call: RequestContext) -> Response:
    """List domains, newest first."""
    refuse_subuser(call.request)
    query = query_of(call, SendGridDomainQuery)
    wanted = None if query.domain is None else query.domain.lower()
    found = [each for each in await domains_of(call) if wanted in (None, each[0].domain)]
    page = found[::-1][query.offset : query.offset + query.limit]
    return json_answer([_shown(call, each) for each in page])


async def show(call: RequestContext) -> Response:
    """Show a domain with the record to publish."""
    refuse_subuser(call.request)
    return json_answer(_shown(call, await _found(call)))


async def validate(call: RequestContext) -> Response:
    """Look up the record of a domain now; a key whose record is found signs from then on."""
    refuse_subuser(call.request)
    looked = await look_up_domain(call, await _found(call))
    results = _by_name([_result(one) for one in looked])
    document = {
        "id": _number(call, looked[0].key.domain),
        "valid": is_verified([one.key for one in looked]),
        "validation_results": results,
    }
    return json_answer(document)


async def remove(call: RequestContext) -> Response:
    """Remove a domain: its keys are revoked."""
    refuse_subuser(call.request)
    await remove_domain(call, await _found(call))
    return no_content()


async def _found(call: RequestContext) -> list[DkimKey]:
    """Return the keys of the domain of the path, oldest first.

    Raises:
        NotFound: the project has no such domain.
    """
    given = call.path["domain_id"]
    for found in await domains_of(call):
        if str(_number(call, found[0].domain)) == given:
            return found
    raise NotFound("domain", given[:100])


def _number(call: RequestContext, domain: str) -> int:
    return number_of(uuid5(call.caller.project_id, f"domain {domain}"))


def _by_name(values: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is said of each key by its name in answers: `dkim`, of several `dkim1` and so
    on. Pure.
    """
    if len(values) == 1:
        return {"dkim": values[0]}
    return {f"dkim{number}": each for number, each in enumerate(values, 1)}


def _result(one: Publication) -> dict[str, Any]:
    is_valid = one.in_dns is RecordState.PUBLISHED
    return {"valid": is_valid, "reason": None if is_valid else one.why}


def _shown(call: RequestContext, found: list[DkimKey]) -> dict[str, Any]:
    records = [
        {
            "valid": one.status is DkimKeyStatus.ACTIVE,
            "type": "txt",
            "host": one.name,
            "data": one.text,
        }
        for one in found
    ]
    return {
        "id": _number(call, found[0].domain),
        "user_id": number_of(call.caller.project_id),
        "subdomain": "",
        "domain": found[0].domain,
        "username": call.caller.project,
        "ips": [],
        "custom_spf": False,
        "default": False,
        "legacy": False,
        "automatic_security": False,
        "valid": is_verified(found),
        "dns": _by_name(records),
    }


_PATH = "/v3/whitelabel/domains"
_ONE = f"{_PATH}/{{domain_id}}"
DOMAIN_ENDPOINTS = (
    domain_endpoint("POST", _PATH, "Add a domain.", create),
    domain_endpoint("GET", _PATH, "List domains.", index),
    domain_endpoint("GET", _ONE, "Show a domain and its record.", show),
    domain_endpoint("POST", f"{_ONE}/validate", "Look up the record of a domain.", validate),
    domain_endpoint("DELETE", _ONE, "Remove a domain.", remove),
)
