"""Fields of the members of mailing lists, and those of contacts. Pure."""

from typing import Any

import orjson

from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import Form
from mailqueue.api.compat.mailgun.options import object_of
from mailqueue.contract.contacts import Contact
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.core.json.size import values_in
from mailqueue.core.storable_text import unstorable

MAX_IN_REQUEST = 1_000
MAX_VALUES = 100_000
"""Most JSON values of the members of one request."""
CHANGED = ("address", "name", "vars", "subscribed", "description")
"""Fields of a change; `description`, which Mailgun's examples add, has no effect there either."""
ADDED = (*CHANGED, "upsert")
MANY = ("members", "upsert", "subscribed")
_YES = ("yes", "true")
_NO = ("no", "false")
_NAMES = {
    "email": "address",
    "list": "address",
    "first_name": "name",
    "last_name": "name",
    "attributes": "vars",
}


def shown(one: Contact) -> dict[str, Any]:
    """Return a member that gets mail."""
    return {
        "address": one.email,
        "name": " ".join(name for name in (one.first_name, one.last_name) if name),
        "subscribed": True,
        "vars": dict(one.attributes),
    }


def fields_of(form: Form, otherwise: str) -> dict[str, Any]:
    """Return the fields of a contact that a form has; its name is `otherwise` if it has none.

    Raises:
        InvalidField: one of them is invalid.
    """
    checked_flag(form, "subscribed", otherwise=True, must_be=True)
    fields = _name(form.one("name") or otherwise)
    if (text := form.one("vars")) is not None:
        fields["attributes"] = object_of("vars", text)
    if (fault := unstorable("vars", fields)) is not None:
        raise NamedParameter("vars", fault.why)
    return fields


def many_fields(text: str | None) -> list[dict[str, Any]]:
    """Return the fields of the contacts in a JSON array of members.

    Raises:
        InvalidField: it is none of 1 to 1,000 members, or one of them is invalid.
    """
    if text is None:
        raise MissingParameter("members")
    if values_in(text.encode("utf-8", "replace"), few=MAX_VALUES, most=MAX_VALUES) > MAX_VALUES:
        raise NamedParameter("members", f"holds too many values: {MAX_VALUES} are allowed")
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError:
        given = None
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_IN_REQUEST:
        raise NamedParameter("members", f"must be a JSON array of 1 to {MAX_IN_REQUEST}")
    return [_member(f"members.{place}", one) for place, one in enumerate(given)]


def checked_flag(form: Form, name: str, *, otherwise: bool, must_be: bool | None = None) -> bool:
    """Return yes or no.

    Raises:
        NamedParameter: it is neither, or not what it must be.
    """
    word = (form.one(name) or ("yes" if otherwise else "no")).lower()
    if word not in (*_YES, *_NO):
        raise NamedParameter(name, "must be yes or no")
    if must_be is not None and (word in _YES) is not must_be:
        raise NamedParameter(name, _only_members(name))
    return word in _YES


def named(exc: InvalidField) -> InvalidField:
    """Return an error of a contact with Mailgun's name of its field."""
    first, dot, rest = exc.field.partition(".")
    return NamedParameter(_NAMES.get(first, first) + dot + rest, exc.why)


def _member(place: str, given: Any) -> dict[str, Any]:
    document = {"address": given} if isinstance(given, str) else given
    if not isinstance(document, dict):
        raise NamedParameter(place, "must be an address or an object")
    for name in document:
        if name not in CHANGED:
            raise NamedParameter(f"{place}.{name[:100]}", "is not supported or not known")
    if (fault := unstorable(place, document)) is not None:
        raise NamedParameter(fault.field, fault.why)
    if document.get("subscribed") not in (None, True, "yes", "true"):
        raise NamedParameter(f"{place}.subscribed", _only_members("it"))
    written = document.get("name") or ""
    variables = {} if document.get("vars") is None else document["vars"]
    if not isinstance(written, str) or not isinstance(variables, dict):
        field = "vars" if isinstance(written, str) else "name"
        raise NamedParameter(f"{place}.{field}", "is of another type")
    label, address = _mailbox(place, document.get("address"))
    more = {"attributes": variables} if variables else {}
    return {"email": address, **_name(written or label), **more}


def _mailbox(place: str, given: Any) -> tuple[str, str]:
    if not isinstance(given, str):
        raise NamedParameter(f"{place}.address", "is missing")
    label, address = split_mailbox(given)
    try:
        return label or "", parse_address(address).sent
    except InvalidAddress as exc:
        raise NamedParameter(f"{place}.address", str(exc)) from None


def _name(written: str | None) -> dict[str, Any]:
    """Return first and last name, which are parted by the first space."""
    first, _, last = (written or "").strip().partition(" ")
    if not first:
        return {}
    return {"first_name": first, "last_name": last.strip() or None}


def _only_members(name: str) -> str:
    return f"must be yes: {name} would keep a member that gets no mail; remove it instead"
