"""Bounce messages that another mail server received and forwards: /inbound/smtp.

A request is authorized by the token in its URL, and by a password or secret if the account has one.
A bounce message counts only if it can be matched to an email sent from here.
"""

from collections.abc import Sequence
from datetime import datetime

from mailqueue.adapters.inbound.proof import digest_of, refusal_by_secret
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    NotVerified,
    ProviderEvent,
    VerificationSecrets,
    Verified,
)


class RelayedBounces:
    """Accepts the bounce messages of a mail server or of an inbound mail service."""

    name = "smtp"
    max_bytes = 10 * 1024 * 1024

    async def verify(
        self,
        request: InboundRequest,
        secrets: VerificationSecrets,
        now: datetime,  # noqa: ARG002
    ) -> Verified | NotVerified:
        """Check the password or secret, if the account has one."""
        if secrets.password is not None or any(secrets.signing):
            refused = refusal_by_secret(request, secrets)
            if refused is not None:
                return refused
        envelope = (request.query.get("sender", ""), request.query.get("recipient", ""))
        return Verified(digest_of(*envelope, request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return no events: matching a bounce message to an email needs the database."""
        return [
            BadEvent(f"{len(request.body)} bytes of a bounce message are parsed with the database")
        ]
