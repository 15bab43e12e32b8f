"""The domains of a project in Mailgun's API: those it may send from."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.mailgun import store as mailgun_store
from mailqueue.api.compat.mailgun.faults import DomainNotFound, NamedParameter
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.domains import keys
from mailqueue.domains.model import DkimKey
from mailqueue.projects.model import Scope

MAX_LISTED = 1_000
_SHOWN = (DkimKeyStatus.PENDING, DkimKeyStatus.ACTIVE)


async def check_domain(call: RequestContext) -> None:
    """Raise DomainNotFound if the project may not send from the path's domain.

    Raises:
        DomainNotFound: the domain is not one of the project's.
    """
    await check_name(call, call.path["domain"])


async def check_name(call: RequestContext, given: str) -> None:
    """Raise DomainNotFound if the project may not send from a domain.

    Raises:
        DomainNotFound: the domain is not one of the project's.
    """
    missing = DomainNotFound(f"Domain not found: {given[:253]}")
    try:
        domain = parse_address(f"x@{given}").domain
    except InvalidAddress:
        raise missing from None
    allowed = await _allowed(call)
    if allowed is not None and not any(covers(one, domain) for one in allowed):
        raise missing


async def is_only(call: RequestContext, given: str) -> bool:
    """Return whether a domain of the project's is the only one that it may send from.

    Raises:
        DomainNotFound: the domain is not one of the project's.
    """
    await check_name(call, given)
    allowed = await _allowed(call)
    own = keys.domain_of(given)
    return bool(allowed) and all(one.lower().rpartition("@")[2] == own for one in allowed or ())


async def check_only(call: RequestContext, given: str, *, field: str) -> None:
    """Check that what would be limited to a domain is: API keys send from each of the project's.

    Raises:
        DomainNotFound: the domain is not one of the project's.
        NamedParameter: the project may send from others, too.
    """
    if not await is_only(call, given):
        why = "a key cannot be limited to a domain, and the project may send from others"
        raise NamedParameter(field, why)


async def index(call: RequestContext) -> Response:
    """List the domains; clients request one to verify their key."""
    limit, skip = (_whole(call, name, most) for name, most in (("limit", 100), ("skip", 0)))
    async with call.connection() as conn:
        found = await keys.list_keys(conn, project=call.caller.project)
    allowed = await _allowed(call)
    signed = {one.domain for one in found if one.status in _SHOWN}
    if allowed is not None:
        signed = {own for own in signed if any(covers(one, own) for one in allowed)}
    names = sorted({*names_of(allowed or []), *signed})
    shown = names[skip : skip + min(limit, MAX_LISTED)]
    items = [{"name": name, "state": "active", "type": "custom"} for name in shown]
    return json_answer({"total_count": len(names), "items": items})


async def show(call: RequestContext) -> Response:
    """Show a domain with the records of its DKIM keys."""
    await check_domain(call)
    return json_answer(await document_of_domain(call, keys.domain_of(call.path["domain"])))


async def document_of_domain(call: RequestContext, name: str) -> dict[str, Any]:
    """Return a domain with the records of its DKIM keys."""
    async with call.connection() as conn:
        found = await keys.list_keys(conn, project=call.caller.project)
    records = [record_of(one) for one in found if one.domain == name and one.status in _SHOWN]
    document = {"name": name, "state": "active", "type": "custom", "is_disabled": False}
    return {"domain": document, "sending_dns_records": records, "receiving_dns_records": []}


def record_of(one: DkimKey) -> dict[str, object]:
    """Return the record of a key. Pure."""
    is_valid = one.status is DkimKeyStatus.ACTIVE
    return {
        "record_type": "TXT",
        "name": one.name,
        "value": one.text,
        "valid": "valid" if is_valid else "unknown",
        "is_active": is_valid,
        "cached": [],
    }


def key_shown(one: DkimKey) -> dict[str, object]:
    """Return a key with its record. Pure."""
    return {
        "signing_domain": one.domain,
        "selector": one.selector,
        "dns_record": record_of(one),
    }


async def _allowed(call: RequestContext) -> list[str] | None:
    async with call.connection() as conn:
        found = await mailgun_store.sending_rights_of(conn, call.caller.project_id)
    return None if found is None else found.allowed_from


def names_of(allowed: Sequence[str]) -> list[str]:
    """Return the patterns that are a single domain. Pure."""
    owns = (one.lower().rpartition("@")[2] for one in allowed)
    return sorted({own for own in owns if not own.startswith("*.")})


def covers(pattern: str, domain: str) -> bool:
    """Return whether a pattern of addresses allows any address of a domain. Pure."""
    own = pattern.lower().rpartition("@")[2]
    return domain.endswith(own[1:]) if own.startswith("*.") else domain == own


def _whole(call: RequestContext, name: str, otherwise: int) -> int:
    given = call.request.query_params.get(name)
    if given is None:
        return otherwise
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise InvalidField(name, f"a number is needed, got {given[:100]!r}")
    return int(given)


def _listing(path: str) -> Endpoint:
    return Endpoint(
        "GET", path, Scope.EMAIL_SEND, "List domains.", index, test_keys=ForTestKeys.READ
    )


DOMAIN_ENDPOINTS = (
    _listing("/v3/domains"),
    _listing("/v4/domains"),
    domain_endpoint("GET", "/v3/domains/{domain}", "Show a domain and its records.", show),
    domain_endpoint("GET", "/v4/domains/{domain}", "Show a domain and its records.", show),
)
