"""Mailgun's API: add, verify and remove a domain, which is a DKIM key of it here.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/domains. Which domains a
project may send from is for an administrator to decide: a key allows none.
"""

from collections.abc import Mapping

from starlette.responses import Response

from mailqueue.api.compat.mailgun.domains import (
    check_domain,
    check_name,
    document_of_domain,
    key_shown,
)
from mailqueue.api.compat.mailgun.faults import DomainNotFound, MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.kek_header import own_key_of, platform_key, unlocked
from mailqueue.api.http.responses import json_answer
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.errors import InvalidField
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys, publication
from mailqueue.domains.model import DkimKey
from mailqueue.domains.resolver import Resolver

_ALIVE = (DkimKeyStatus.PENDING, DkimKeyStatus.ACTIVE)
_ONLY: Mapping[str, tuple[str, ...]] = {
    "dkim_key_size": ("2048",),
    "spam_action": ("disabled",),
    "wildcard": ("false", "no"),
    "force_dkim_authority": ("false", "no"),
    "use_automatic_sender_security": ("false", "no"),
    "encrypt_incoming_message": ("false", "no"),
}
"""Options that have no effect, with the values that describe what is done here."""


def check_options(form: Form, *names: str) -> None:
    """Check that a form has these fields and options that describe what is done here, no others.

    Raises:
        InvalidField: it has a field that is not known.
        NamedParameter: an option has another value.
    """
    form.check_names((*names, *_ONLY))
    for option, values in _ONLY.items():
        given = form.one(option)
        if given is not None and given.lower() not in values:
            raise NamedParameter(option, f"must be {values[0]}")


async def create(call: RequestContext) -> Response:
    """Add a domain: a DKIM key, pending until its record is in DNS."""
    form = await form_of(call)
    check_options(form, "name")
    name = form.one("name")
    if name is None:
        raise MissingParameter("name")
    try:
        domain = keys.domain_of(name)
    except InvalidField as exc:
        raise NamedParameter("name", exc.why) from exc
    try:
        await check_name(call, domain)
    except DomainNotFound:
        why = "the project may not send from it: an administrator has to allow it first"
        raise NamedParameter("name", why) from None
    if await _keys(call, domain):
        raise NamedParameter("name", f"the domain {domain} is there already")
    algorithms = [Algorithm.RSA]
    master, own = platform_key(call), own_key_of(call.request)
    made = await keys.new_keys(algorithms)
    async with call.connection() as conn, unlocked(call, own, conn):
        await keys.create(
            conn,
            call.caller.project,
            domain=domain,
            algorithms=algorithms,
            master=master,
            by=call.by,
            made=made,
        )
    document = await document_of_domain(call, domain)
    return json_answer({"message": "Domain DNS records have been created", **document})


async def verify(call: RequestContext) -> Response:
    """Look up the records of a domain now; a key whose record is found signs from then on."""
    await check_domain(call)
    domain = keys.domain_of(call.path["domain"])
    found = await _keys(call, domain)
    looked = await publication.look_up(found, Resolver(call.settings.name_servers))
    async with call.connection() as conn:
        await publication.settle(conn, looked, by=call.by)
    document = await document_of_domain(call, domain)
    return json_answer({"message": "Domain DNS records have been updated", **document})


async def remove(call: RequestContext) -> Response:
    """Remove a domain: its keys are revoked."""
    await check_domain(call)
    domain = keys.domain_of(call.path["domain"])
    found = await _keys(call, domain)
    if not found:
        raise DomainNotFound(f"Domain not found: {domain}")
    async with call.connection() as conn, conn.transaction():
        for one in found:
            await keys.revoke(
                conn, call.caller.project, domain=one.domain, selector=one.selector, by=call.by
            )
    return json_answer({"message": "Domain has been deleted"})


async def list_domain_keys(call: RequestContext) -> Response:
    """List the DKIM keys of a domain with their records."""
    await check_domain(call)
    domain = keys.domain_of(call.path["domain"])
    return json_answer({"items": [key_shown(one) for one in await _keys(call, domain)]})


async def _keys(call: RequestContext, domain: str) -> list[DkimKey]:
    """Return the keys of a domain that sign or wait for their record."""
    async with call.connection() as conn:
        found = await keys.list_keys(conn, project=call.caller.project)
    return [one for one in found if one.domain == domain and one.status in _ALIVE]


def _endpoints_of(path: str) -> tuple[Endpoint, ...]:
    one = f"{path}/{{domain}}"
    return (
        domain_endpoint("POST", path, "Add a domain.", create),
        domain_endpoint("DELETE", one, "Remove a domain.", remove),
        domain_endpoint("PUT", f"{one}/verify", "Look up the records of a domain.", verify),
    )


DOMAIN_CHANGE_ENDPOINTS = (
    *_endpoints_of("/v3/domains"),
    *_endpoints_of("/v4/domains"),
    domain_endpoint("GET", "/v4/domains/{domain}/keys", "List DKIM keys.", list_domain_keys),
)
