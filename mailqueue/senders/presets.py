"""Defaults for accounts at the SMTP services of well-known providers, from the rows of PROVIDERS.

Limits are set where the provider states one for every account; others vary by contract. Providers
that name no limit keep the account's own defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mailqueue.core.providers import PROVIDERS, SmtpPreset
from mailqueue.senders.model import Limits, Tls


@dataclass(frozen=True, slots=True)
class Preset:
    """Defaults for one provider; an option that is given wins."""

    host: str | None = None
    port: int | None = None
    tls: Tls = Tls.STARTTLS
    username: str | None = None  # where it is the same for everybody
    limits: Limits = field(default_factory=Limits)


def _preset(known: SmtpPreset) -> Preset:
    return Preset(
        known.host, known.port, username=known.username, limits=Limits(**dict(known.limits))
    )


PRESETS: Mapping[str, Preset] = {
    name: _preset(known) for one in PROVIDERS for name, known in one.facts.presets.items()
}
