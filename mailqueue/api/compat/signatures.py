"""Sender signatures: addresses that a project may send from, with the names that clients gave them.

Administrators decide which addresses a project may send from: one that they named is a signature
too, also without a rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid5

from mailqueue.api.compat.mailgun.domains import covers
from mailqueue.api.compat.postmark.ruled.store import ProjectRule, RuleKind, list_rules, put_rule
from mailqueue.api.http.context import RequestContext
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.projects import manage
from mailqueue.webhooks.formats.values import number_of


@dataclass(frozen=True, slots=True)
class Signature:
    """An address to send from; without a rule only administrators named it."""

    address: str
    is_confirmed: bool
    rule: ProjectRule | None = None

    @property
    def domain(self) -> str:
        """Return the domain of the address."""
        return self.address.rpartition("@")[2]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what clients said of it."""
        return {} if self.rule is None else self.rule.settings


async def signatures_of(call: RequestContext) -> list[Signature]:
    """Return the signatures, and the addresses that administrators named, in order."""
    allowed = await _allowed(call)
    async with call.connection() as conn:
        rules = await list_rules(conn, call.caller.project_id, RuleKind.SENDER)
    named = {one.lower() for one in allowed or ()}
    found = {
        one: Signature(one, is_confirmed=True)
        for one in named
        if one.rpartition("@")[0] not in ("", "*")
    }
    found |= {
        one.subject: Signature(one.subject, _covered(one.subject, allowed), one) for one in rules
    }
    return [found[address] for address in sorted(found)]


async def may_send_from(call: RequestContext, address: str) -> bool:
    """Return whether administrators allow mail from an address."""
    return _covered(address, await _allowed(call))


async def put_signature(
    call: RequestContext,
    address: str,
    settings: Mapping[str, Any],
    rule: ProjectRule | None = None,
) -> Signature | None:
    """Add a signature, or change what was said of one, of which the rest stays.

    Return None where the address has one already.
    """
    kept = {"name": "", "reply_to": ""} if rule is None else rule.settings
    made = await put_rule(
        call,
        RuleKind.SENDER,
        address,
        {**kept, **settings},
        rule_id=None if rule is None else rule.id,
    )
    if made is None:
        return None
    return Signature(address, await may_send_from(call, address), made)


def number_of_signature(call: RequestContext, one: Signature) -> int:
    """Return the id that clients know a signature by."""
    return number_of(uuid5(call.caller.project_id, f"sender {one.address}"))


def address_of_signature(field: str, text: str) -> str:
    """Return an address as signatures are found by it.

    Raises:
        InvalidField: it is no address.
    """
    try:
        return parse_address(text).key
    except InvalidAddress:
        raise InvalidField(field, f"{text[:300]!r} is not an address") from None


async def _allowed(call: RequestContext) -> list[str] | None:
    async with call.connection() as conn:
        return (await manage.find(conn, call.caller.project)).allowed_from


def _covered(address: str, allowed: list[str] | None) -> bool:
    """Return whether mail from an address is allowed. Pure."""
    domain = address.rpartition("@")[2]
    return allowed is None or any(
        pattern.lower() == address if "@" in pattern else covers(pattern, domain)
        for pattern in allowed
    )
