"""Checks an email against a provider's limits: sizes, counts and headers. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mailqueue.adapters.sending.outcomes import cannot_carry
from mailqueue.core.verdict import Rejected
from mailqueue.ports.transport import SendAttempt

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """The limits of one provider for one email; None if no limit is known.

    `octets` is the size in bytes of the request as sent, with base64. `takes_unicode` is true if an
    address may have characters beyond ASCII before its @.
    """

    provider: str
    octets: int | None = None
    recipients: int | None = None
    tags: int | None = None
    takes_unicode: bool = False
    no_headers: frozenset[str] = frozenset()  # in lower case; a final * matches any ending


def of_account(usual: ProviderLimits, settings: Mapping[str, Any]) -> ProviderLimits:
    """Return the limits of one account, which its settings may override."""
    named = {
        field: settings.get(setting)
        for field, setting in (
            ("octets", "max_bytes"),
            ("recipients", "max_recipients"),
            ("tags", "max_tags"),
        )
    }
    return replace(usual, **{name: value for name, value in named.items() if value is not None})


def objection(
    bounds: ProviderLimits, mail: SendAttempt, *, octets: int, headers: Iterable[str] = ()
) -> Rejected | None:
    """Return a Rejected that names the limit which the email exceeds, or None."""
    name = bounds.provider
    if bounds.octets is not None and octets > bounds.octets:
        most = f"{bounds.octets / MEGABYTE:g} MiB ({bounds.octets} bytes)"
        return cannot_carry(f"{name} takes at most {most} in one request, this one has {octets}")
    count = len(mail.envelope.recipients)
    if bounds.recipients is not None and count > bounds.recipients:
        return cannot_carry(
            f"{name} takes at most {bounds.recipients} recipients an email, this one has {count}"
        )
    if bounds.tags is not None and len(mail.tags) > bounds.tags:
        return cannot_carry(
            f"{name} takes at most {bounds.tags} tags an email, this one has {len(mail.tags)}"
        )
    everyone = (mail.envelope.sender, *mail.envelope.recipients)
    beyond = [one for one in everyone if not one.isascii()]
    if beyond and not bounds.takes_unicode:
        return cannot_carry(f"{name} accepts no address with characters beyond ASCII: {beyond[0]}")
    for header in headers:
        if _is_forbidden(header.lower(), bounds.no_headers):
            return cannot_carry(f"{name} does not allow the header {header}")
    return None


def _is_forbidden(header: str, forbidden: frozenset[str]) -> bool:
    return any(
        header.startswith(one[:-1]) if one.endswith("*") else header == one for one in forbidden
    )
