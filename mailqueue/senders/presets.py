"""Defaults of accounts at well-known SMTP services, from PROVIDERS.

A limit is preset where the provider publishes one for every account; others depend on the contract.
For providers without published limits the account's own defaults hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mailqueue.core.providers import PROVIDERS, SmtpPreset
from mailqueue.senders.model import Limits, Tls


@dataclass(frozen=True, slots=True)
class Preset:
    """Defaults for one provider; given options override them."""

    host: str | None = None
    port: int | None = None
    tls: Tls = Tls.STARTTLS
    username: str | None = None  # set where all accounts share it
    limits: Limits = field(default_factory=Limits)


def _preset(known: SmtpPreset) -> Preset:
    return Preset(
        known.host, known.port, username=known.username, limits=Limits(**dict(known.limits))
    )


PRESETS: Mapping[str, Preset] = {
    name: _preset(known) for one in PROVIDERS for name, known in one.facts.presets.items()
}
