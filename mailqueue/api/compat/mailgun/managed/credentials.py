"""Mailgun's API: SMTP credentials of a domain, which are API keys that may only send.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/credentials. The login is
the name of the key, and the key is the password: it is generated and shown once, in the answer.
"""

from typing import Any

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.keys import add_key, all_keys, replace_key, revoke_key
from mailqueue.api.compat.mailgun.address_lists import stamp
from mailqueue.api.compat.mailgun.domains import check_domain, check_only
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.model import key_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.domains import keys
from mailqueue.projects.model import ApiKey, Scope

_SENDING = [Scope.EMAIL_SEND.value]
_NOTE = "The password is an API key, and is not shown again."


class CredentialsPage(RequestModel):
    """The query of a list of credentials."""

    limit: int = Field(default=100, ge=1, le=1_000)
    skip: int = Field(default=0, ge=0, le=1_000_000)


async def index(call: RequestContext) -> Response:
    """List the credentials, newest first."""
    await check_domain(call)
    query = query_of(call, CredentialsPage)
    found = await _credentials(call)
    shown = found[query.skip : query.skip + query.limit]
    items = [_shown(one) for one in shown]
    return json_answer({"total_count": len(found), "items": items})


async def create(call: RequestContext) -> Response:
    """Add credentials; the answer has the password."""
    await check_domain(call)
    form = await form_of(call)
    form.check_names(("login", "mailbox", "password"))
    _check_no_password(form)
    given = form.one("login") or form.one("mailbox")
    if given is None:
        raise MissingParameter("login")
    login = _login(call, given)
    await check_only(call, call.path["domain"], field="login")
    try:
        made = await add_key(call, login, _SENDING)
    except InvalidField as exc:
        raise NamedParameter("login", exc.why) from exc
    except Conflict as exc:
        raise NamedParameter("login", f"{login} is there already") from exc
    return json_answer(
        {
            "message": "Created 1 credentials pair(s)",
            "note": _NOTE,
            "credentials": {login: made.key.reveal()},
        }
    )


async def change(call: RequestContext) -> Response:
    """Replace the password; the answer has the new one, and the old one is refused."""
    await check_domain(call)
    form = await form_of(call)
    form.check_names(("password",))
    _check_no_password(form)
    one = await _found(call)
    made = await replace_key(call, one)
    return json_answer(
        {
            "message": "Password changed",
            "note": _NOTE,
            "credentials": {one.name: made.key.reveal()},
        }
    )


async def remove(call: RequestContext) -> Response:
    """Remove credentials: they are refused from now on."""
    await check_domain(call)
    one = await _found(call)
    await revoke_key(call, one)
    return json_answer({"message": "Credentials have been deleted", "spec": one.name})


async def remove_all(call: RequestContext) -> Response:
    """Remove all credentials of a domain; repeated, it goes on where it ended."""
    await check_domain(call)
    found = await _credentials(call)
    for one in found:
        await revoke_key(call, one)
    message = "All domain credentials have been deleted"
    return json_answer({"message": message, "count": len(found)})


def _check_no_password(form: Form) -> None:
    if form.all("password"):
        why = "is not chosen here: without it the answer has one that is generated"
        raise NamedParameter("password", why)


def _login(call: RequestContext, given: str) -> str:
    """Return a login with its domain, which is that of the path.

    Raises:
        NamedParameter: it is no address of the domain.
    """
    domain = keys.domain_of(call.path["domain"])
    name, at, own = given.rpartition("@")
    try:
        address = parse_address(f"{name if at else own}@{domain}")
    except InvalidAddress as exc:
        raise NamedParameter("login", "is not a name before the domain") from exc
    if at and own.lower() != domain:
        raise NamedParameter("login", f"must be of {domain}")
    return f"{address.local}@{domain}"


async def _credentials(call: RequestContext) -> list[ApiKey]:
    domain = keys.domain_of(call.path["domain"])
    return [
        one
        for one in await all_keys(call)
        if one.name.endswith(f"@{domain}") and one.scopes == _SENDING
    ]


async def _found(call: RequestContext) -> ApiKey:
    """Return the credentials of the path, whose login may be without its domain.

    Raises:
        NotFound: there are none.
    """
    domain = keys.domain_of(call.path["domain"])
    given = call.path["login"]
    name = given if "@" in given else f"{given}@{domain}"
    for one in await _credentials(call):
        if one.name == name:
            return one
    raise NotFound("credentials", given[:100])


def _shown(one: ApiKey) -> dict[str, Any]:
    return {
        "created_at": stamp(one.created_at),
        "login": one.name,
        "mailbox": one.name,
        "size_bytes": None,
    }


_PATH = "/v3/domains/{domain}/credentials"
_ONE = f"{_PATH}/{{login}}"
CREDENTIAL_ENDPOINTS = (
    key_endpoint("GET", _PATH, "List SMTP credentials.", index),
    key_endpoint("POST", _PATH, "Add SMTP credentials.", create),
    key_endpoint("DELETE", _PATH, "Remove all SMTP credentials.", remove_all),
    key_endpoint("PUT", _ONE, "Replace a password.", change),
    key_endpoint("DELETE", _ONE, "Remove SMTP credentials.", remove),
)
