"""What is known of well-known providers' SMTP service: data only.

Limits are set where the provider states one for every account; others vary by contract. Providers
that name no limit here keep the account's own defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mailqueue.senders.model import Limits, Tls


@dataclass(frozen=True, slots=True)
class Preset:
    """Defaults for one provider; an option that is given wins."""

    host: str | None = None
    port: int | None = None
    tls: Tls = Tls.STARTTLS
    username: str | None = None  # where it is the same for everybody
    limits: Limits = field(default_factory=Limits)


PRESETS: Mapping[str, Preset] = {
    # 2,000 messages a user in 24 hours: https://support.google.com/a/answer/166852
    "gmail": Preset(
        "smtp.gmail.com", 587, limits=Limits(daily_limit=2000, batch_size=50, send_delay_ms=100)
    ),
    "gmail-relay": Preset("smtp-relay.gmail.com", 587),
    "ses": Preset("email-smtp.us-east-1.amazonaws.com", 587),  # name another region by --host
    "sendgrid": Preset("smtp.sendgrid.net", 587, username="apikey"),
    "mailgun": Preset("smtp.mailgun.org", 587),
    "postmark": Preset("smtp.postmarkapp.com", 587),
    "resend": Preset("smtp.resend.com", 587, username="resend"),
    "smtp2go": Preset("mail.smtp2go.com", 587),
}
