"""Mailgun's API: API keys, which are those of the project here.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/keys. A role is a set of
scopes. Keys send from every address that the project may send from: one of a domain is created only
where the project sends from no other.
"""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.keys import (
    MAX_NAME_CHARACTERS,
    add_key,
    all_keys,
    key_in_path,
    revoke_key,
)
from mailqueue.api.compat.mailgun.domains import check_only, is_only
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.model import key_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable
from mailqueue.projects.model import EVERY_SCOPE, ApiKey, Scope

LONGEST = timedelta(days=3650)
WEB_LIFE = timedelta(days=1)
"""Life of a key of kind `web`, at most and by default."""
_KINDS = ("user", "web")
ROLES: Mapping[str, frozenset[Scope]] = {
    "admin": EVERY_SCOPE,
    "developer": EVERY_SCOPE - {Scope.PROJECT_WRITE},
    "basic": frozenset(
        {
            Scope.EMAIL_READ,
            Scope.TEMPLATE_READ,
            Scope.ANALYTICS_READ,
            Scope.PROJECT_READ,
            Scope.CONTACTS_READ,
        }
    ),
    "sending": frozenset({Scope.EMAIL_SEND}),
}
"""The scopes of a role."""
_FOR_PEOPLE = ("email", "user_id", "user_name")
"""Whom a key is for at Mailgun; a key here is the project's."""


async def create(call: RequestContext) -> Response:
    """Create a key, which is returned only in this response."""
    form = await form_of(call)
    form.check_names(("description", "role", "kind", "domain_name", "expiration", *_FOR_PEOPLE))
    role = form.one("role")
    if role is None:
        raise MissingParameter("role")
    if role not in ROLES:
        raise NamedParameter("role", f"must be one of {', '.join(ROLES)}")
    expires_at = _expiry(form)
    if (domain := form.one("domain_name")) is not None:
        await check_only(call, domain, field="domain_name")
    name = form.one("description") or f"key-{secrets.token_hex(4)}"
    if len(name) > MAX_NAME_CHARACTERS:
        raise NamedParameter("description", f"at most {MAX_NAME_CHARACTERS} characters")
    try:
        made = await add_key(call, name, ROLES[role], expires_at=expires_at)
    except InvalidField as exc:
        raise NamedParameter("description", exc.why) from exc
    key = {**_shown(made.record), "secret": made.key.reveal()}
    return json_answer({"message": "great success", "key": key})


async def index(call: RequestContext) -> Response:
    """List the keys that are valid, newest first."""
    given = dict(call.request.query_params)
    for name, text in given.items():
        if name not in ("domain_name", "kind"):
            raise NamedParameter(name.replace("\0", "?")[:100], "is not supported or not known")
        if (fault := unstorable(name, [text])) is not None:
            raise NamedParameter(fault.field, fault.why)
    kind = given.get("kind")
    if kind is not None and kind not in (*_KINDS, "domain"):
        raise NamedParameter("kind", f"must be one of {', '.join((*_KINDS, 'domain'))}")
    domain = given.get("domain_name")
    is_listed = domain is None or await is_only(call, domain)
    items = [_shown(one) for one in await all_keys(call)] if is_listed else []
    chosen = [one for one in items if kind is None or one["kind"] == kind]
    return json_answer({"total_count": len(chosen), "items": chosen})


async def remove(call: RequestContext) -> Response:
    """Revoke a key: it is refused from now on."""
    await revoke_key(call, await key_in_path(call))
    return json_answer({"message": "key deleted"})


def _expiry(form: Form) -> datetime | None:
    """Return when a new key ends; None: never.

    Raises:
        NamedParameter: the kind or the time is invalid.
    """
    kind = form.one("kind") or "user"
    if kind == "domain":
        raise NamedParameter("kind", "a key is not of a domain here: use user or web")
    if kind not in _KINDS:
        raise NamedParameter("kind", f"must be one of {', '.join(_KINDS)}")
    longest = WEB_LIFE if kind == "web" else LONGEST
    given = form.one("expiration")
    if given is None:
        return datetime.now(UTC) + WEB_LIFE if kind == "web" else None
    is_number = given.isascii() and given.isdigit() and len(given) < 10
    if not is_number or not timedelta(0) < timedelta(seconds=int(given)) <= longest:
        seconds = int(longest.total_seconds())
        raise NamedParameter("expiration", f"must be 1 to {seconds} seconds")
    return datetime.now(UTC) + timedelta(seconds=int(given))


def _shown(one: ApiKey) -> dict[str, Any]:
    ends = one.expires_at
    is_short = ends is not None and ends - one.created_at <= WEB_LIFE
    role = next((name for name, scopes in ROLES.items() if scopes == set(one.scopes)), None)
    return {
        "id": one.id,
        "description": one.name,
        "kind": "web" if is_short else "user",
        "role": role,
        "created_at": one.created_at.isoformat(),
        "expires_at": None if ends is None else ends.isoformat(),
        "is_disabled": False,
        "requestor": one.created_by,
    }


_PATH = "/v1/keys"
API_KEY_ENDPOINTS = (
    key_endpoint("GET", _PATH, "List API keys.", index),
    key_endpoint("POST", _PATH, "Create an API key.", create),
    key_endpoint("DELETE", f"{_PATH}/{{key_id}}", "Revoke an API key.", remove),
)
