"""Postmark's account API: domains, which are those that the project has DKIM keys of.

Follows postmarkapp.com/developer/api/domains-api. The number of a domain is made from its name; a
domain whose keys are all revoked is gone. Keys that were added elsewhere are shown too.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid5

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_pascal
from starlette.responses import Response

from mailqueue.api.compat.domains import add_domain
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, PostmarkRefusal, error_of
from mailqueue.api.compat.postmark.reading import body_of
from mailqueue.api.compat.postmark.search import PostmarkPage
from mailqueue.api.compat.reading import query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, platform_key, unlocked
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.domains import DkimKeyStatus, FindingStatus
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys, publication
from mailqueue.domains.model import DkimKey
from mailqueue.domains.resolver import Resolver
from mailqueue.domains.spf.check import check_spf
from mailqueue.webhooks.formats.values import number_of

_ALIVE = (DkimKeyStatus.PENDING, DkimKeyStatus.ACTIVE)
_SPF_IS_USED = (FindingStatus.PASS, FindingStatus.WARN)
_RENEWED = "The DKIM key is already being renewed: publish the pending record."


class ChangedPostmarkDomain(StrictRequestModel):
    """The body of PUT /domains/{domain_number}."""

    model_config = ConfigDict(alias_generator=to_pascal)

    return_path_domain: StorableText | None = None


class NewPostmarkDomain(ChangedPostmarkDomain):
    """The body of POST /domains."""

    name: StorableText = Field(min_length=1, max_length=300)


async def create(call: RequestContext) -> Response:
    """Add a domain: a DKIM key, pending until its record is in DNS."""
    body = await body_of(call, NewPostmarkDomain)
    _check_return_path(body)
    try:
        name = keys.domain_of(body.name)
    except InvalidField:
        raise PostmarkRefusal(ErrorCode.BAD_DOMAIN, "The 'Name' format is invalid.") from None
    if name in await domains_by_name(call):
        raise PostmarkRefusal(ErrorCode.DOMAIN_EXISTS, "This domain already exists.")
    return json_answer(detailed(call, await add_domain(call, name)))


async def index(call: RequestContext) -> Response:
    """List domains by name."""
    query = query_of(call, PostmarkPage)
    found = sorted((await domains_by_name(call)).items())
    page = found[query.offset : query.offset + query.count]
    shown = [_listed(call, each) for _, each in page]
    return json_answer({"TotalCount": len(found), "Domains": shown})


async def show(call: RequestContext) -> Response:
    """Show a domain with the records to publish."""
    return json_answer(detailed(call, await _found(call)))


async def change(call: RequestContext) -> Response:
    """Show a domain: a return path of its own, the one thing to change, is not supported."""
    body = await body_of(call, ChangedPostmarkDomain)
    found = await _found(call)
    _check_return_path(body)
    return json_answer(detailed(call, found))


async def remove(call: RequestContext) -> Response:
    """Remove a domain: its keys are revoked."""
    found = await _found(call)
    async with call.connection() as conn, conn.transaction():
        for one in found:
            await keys.revoke(
                conn, call.caller.project, domain=one.domain, selector=one.selector, by=call.by
            )
    return json_answer(error_of(ErrorCode.OK, f"Domain {found[0].domain} removed."))


async def verify_dkim(call: RequestContext) -> Response:
    """Look up the records of a domain now; a key whose record is found signs from then on."""
    found = await _found(call)
    looked = await publication.look_up(found, Resolver(call.settings.name_servers))
    async with call.connection() as conn:
        await publication.settle(conn, looked, by=call.by)
    return json_answer(detailed(call, await _found(call)))


async def verify_spf(call: RequestContext) -> Response:
    """Look up the SPF record of a domain now; nothing is stored."""
    (one, *_) = await _found(call)
    return json_answer(await spf_of(call, one.domain))


async def spf_of(call: RequestContext, domain: str) -> dict[str, Any]:
    """Return what the SPF record of a domain is now."""
    looked = await check_spf(domain, Resolver(call.settings.name_servers), address=None)
    wanted = [each.value for each in looked.publish]
    return {
        "SPFHost": domain,
        "SPFVerified": looked.status in _SPF_IS_USED,
        "SPFTextValue": next(iter([*looked.found, *wanted]), ""),
    }


async def rotate(call: RequestContext) -> Response:
    """Add the successor of a domain's key, which signs once its record is in DNS."""
    found = await _found(call)
    await add_successor(call, found)
    return json_answer(detailed(call, await _found(call)))


async def add_successor(call: RequestContext, found: Sequence[DkimKey]) -> None:
    """Add the successor of the keys of a domain.

    Raises:
        PostmarkRefusal: a key waits for its record.
    """
    if _newest(found, DkimKeyStatus.PENDING) is not None:
        raise PostmarkRefusal(ErrorCode.DKIM_RENEWED, _RENEWED)
    master, own = platform_key(call), own_key_of(call.request)
    made = await keys.new_keys(
        {one.algorithm for one in found if one.status is DkimKeyStatus.ACTIVE}
    )
    domain, project = found[0].domain, call.caller.project
    async with call.connection() as conn, unlocked(call, own, conn):
        try:
            await keys.rotate(conn, project, domain=domain, master=master, by=call.by, made=made)
        except Conflict:
            raise PostmarkRefusal(ErrorCode.DKIM_RENEWED, _RENEWED) from None


async def domains_by_name(call: RequestContext) -> dict[str, list[DkimKey]]:
    """Return the keys that are not revoked of each domain that has one which signs or waits for
    its record, oldest first.
    """
    async with call.connection() as conn:
        found = await keys.list_keys(conn, project=call.caller.project)
    by_domain: dict[str, list[DkimKey]] = {}
    for one in sorted(found, key=lambda one: (one.created_at, one.id)):
        if one.status is not DkimKeyStatus.REVOKED:
            by_domain.setdefault(one.domain, []).append(one)
    return {
        name: found
        for name, found in by_domain.items()
        if any(one.status in _ALIVE for one in found)
    }


async def _found(call: RequestContext) -> list[DkimKey]:
    """Return the keys of the domain whose number is in the path.

    Raises:
        PostmarkRefusal: the project has no such domain.
    """
    for name, found in (await domains_by_name(call)).items():
        if str(_number(call, name)) == call.path["domain_number"]:
            return found
    raise PostmarkRefusal(ErrorCode.NO_DOMAIN, "This domain was not found.")


def _number(call: RequestContext, name: str) -> int:
    return number_of(uuid5(call.caller.project_id, f"domain {name}"))


def _check_return_path(body: ChangedPostmarkDomain) -> None:
    if body.return_path_domain:
        raise InvalidField("ReturnPathDomain", "is not supported: bounces have one address here")


def _listed(call: RequestContext, found: Sequence[DkimKey]) -> dict[str, Any]:
    return {
        "Name": found[0].domain,
        "SPFVerified": found[0].spf in _SPF_IS_USED,
        "DKIMVerified": _newest(found, DkimKeyStatus.ACTIVE) is not None,
        "WeakDKIM": False,
        "ReturnPathDomainVerified": False,
        "ID": _number(call, found[0].domain),
    }


def detailed(call: RequestContext, found: Sequence[DkimKey]) -> dict[str, Any]:
    """Return a domain with the records of its keys. Pure."""
    pending = _newest(found, DkimKeyStatus.PENDING)
    retired = _newest(found, DkimKeyStatus.RETIRED)
    return {
        **_listed(call, found),
        "SPFHost": found[0].domain,
        "SPFTextValue": "",
        **_record("DKIM", _newest(found, DkimKeyStatus.ACTIVE)),
        **_record("DKIMPending", pending),
        **_record("DKIMRevoked", retired),
        "SafeToRemoveRevokedKeyFromDNS": _is_over(retired),
        "DKIMUpdateStatus": "Verified" if pending is None else "Pending",
        "ReturnPathDomain": "",
        "ReturnPathDomainCNAMEValue": "",
    }


def _newest(found: Iterable[DkimKey], status: DkimKeyStatus) -> DkimKey | None:
    """Return the newest key in a state; of those the RSA key, if there is one. Pure."""
    some = [one for one in found if one.status is status]
    return max(some, key=lambda one: (one.algorithm is Algorithm.RSA, one.created_at), default=None)


def _record(name: str, one: DkimKey | None) -> Mapping[str, str]:
    host, text = ("", "") if one is None else (one.name, one.text)
    return {f"{name}Host": host, f"{name}TextValue": text}


def _is_over(retired: DkimKey | None) -> bool:
    """Return whether the record of a retired key is no longer needed."""
    until = None if retired is None else retired.needed_until
    return until is not None and until <= datetime.now(UTC)


_PATH = "/domains"
_ONE = f"{_PATH}/{{domain_number}}"
DOMAIN_ENDPOINTS = (
    domain_endpoint("POST", _PATH, "Add a domain.", create),
    domain_endpoint("GET", _PATH, "List domains.", index),
    domain_endpoint("GET", _ONE, "Show a domain and its records.", show),
    domain_endpoint("PUT", _ONE, "Confirm the return path of a domain.", change),
    domain_endpoint("DELETE", _ONE, "Remove a domain.", remove),
    domain_endpoint("PUT", f"{_ONE}/verifyDkim", "Look up the records of a domain.", verify_dkim),
    domain_endpoint("PUT", f"{_ONE}/verifyReturnPath", "Show the return path.", show),
    domain_endpoint("POST", f"{_ONE}/verifyspf", "Look up the SPF record.", verify_spf),
    domain_endpoint("POST", f"{_ONE}/rotatedkim", "Add the next DKIM key.", rotate),
)
