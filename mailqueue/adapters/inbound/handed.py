"""Bounce mail that another program received and hands on: /inbound/smtp.

The URL's token lets in, and a password or secret where the account was given one. What the message
itself says is believed only where it proves itself.
"""

from collections.abc import Sequence
from datetime import datetime

from mailqueue.adapters.inbound.proof import digest_of, refusal_by_secret
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    ProviderEvent,
    Refused,
    Secrets,
    Verified,
)


class RelayedBounces:
    """Takes what a relay or a service for incoming mail hands on."""

    name = "smtp"
    most_bytes = 10 * 1024 * 1024

    async def verify(
        self,
        request: InboundRequest,
        secrets: Secrets,
        now: datetime,  # noqa: ARG002
    ) -> Verified | Refused:
        """Check the password or secret, where there is one."""
        if secrets.password is not None or any(secrets.signing):
            refused = refusal_by_secret(request, secrets)
            if refused is not None:
                return refused
        envelope = (request.query.get("sender", ""), request.query.get("recipient", ""))
        return Verified(digest_of(*envelope, request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return none: who reads bounce mail has to ask which mail it is about."""
        return [BadEvent(f"{len(request.body)} octets of bounce mail are read with the database")]
