"""PROVIDERS: the facts about each provider, one row each.

`docs/adding/provider.md` is the guide to adding one. Its adapters are listed in
`mailqueue/adapters/providers.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

_TEXT, _SWITCH, _NUMBER, _FIELDS = str, bool, int, dict
_KEEP_ID: Mapping[str, type] = {"keep_message_id": _SWITCH}
_OF_ALL_APIS: Mapping[str, type] = {
    "extra": _FIELDS,
    "max_bytes": _NUMBER,
    "max_recipients": _NUMBER,
    "max_tags": _NUMBER,
}
_OAUTH: Mapping[str, type] = {"token_url": _TEXT}


@dataclass(frozen=True, slots=True)
class SmtpPreset:
    """A provider's SMTP service: defaults of an account that is added with `--preset`.

    `limits` are fields of `senders.model.Limits` that the provider documents for every account.
    """

    host: str
    port: int = 587
    username: str | None = None  # if it is the same for all accounts
    limits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """The facts about one provider and the settings of its accounts.

    `settings` are the available settings by type, `needed` the required ones. `username` describes
    the account's username; "" if it has none.
    """

    label: str
    docs: str = ""
    """URL of the provider's documentation."""
    has_api: bool = True
    """Whether it has an HTTP API for sending."""
    sends_events: bool = True
    """Whether an inbound adapter reads its events."""
    settings: Mapping[str, type] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    username: str = ""
    presets: Mapping[str, SmtpPreset] = field(default_factory=dict)


_NO_FACTS = ProviderFacts("")
"""Satisfies the type checker, to which `Provider("ses")` is a call of `__new__`."""


class Provider(StrEnum):
    """The provider of a sender account."""

    facts: ProviderFacts
    _value_: str

    def __new__(cls, name: str, facts: ProviderFacts = _NO_FACTS) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.facts = facts
        return member

    SES = (
        "ses",
        ProviderFacts(
            "Amazon SES",
            "https://docs.aws.amazon.com/ses/latest/APIReference-V2/",
            settings={"region": _TEXT, "configuration_set": _TEXT, **_OF_ALL_APIS},
            username="access key id",
            # Name another region by --host.
            # The rate of accounts out of the sandbox, unless Amazon has raised it.
            presets={
                "ses": SmtpPreset(
                    "email-smtp.us-east-1.amazonaws.com", limits={"rate_per_second": 14}
                )
            },
        ),
    )
    SENDGRID = (
        "sendgrid",
        ProviderFacts(
            "SendGrid",
            "https://www.twilio.com/docs/sendgrid/api-reference/mail-send",
            settings={"subuser": _TEXT, **_OF_ALL_APIS},
            presets={
                "sendgrid": SmtpPreset(
                    "smtp.sendgrid.net", username="apikey", limits={"rate_per_second": 100}
                )
            },
        ),
    )
    MAILGUN = (
        "mailgun",
        ProviderFacts(
            "Mailgun",
            "https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages",
            settings={"domain": _TEXT, **_OF_ALL_APIS},
            needed=("domain",),
            presets={"mailgun": SmtpPreset("smtp.mailgun.org")},
        ),
    )
    POSTMARK = (
        "postmark",
        ProviderFacts(
            "Postmark",
            "https://postmarkapp.com/developer/api/email-api",
            settings={"message_stream": _TEXT, **_KEEP_ID, **_OF_ALL_APIS},
            presets={"postmark": SmtpPreset("smtp.postmarkapp.com")},
        ),
    )
    RESEND = (
        "resend",
        ProviderFacts(
            "Resend",
            "https://resend.com/docs/api-reference/emails/send-email",
            settings={**_KEEP_ID, **_OF_ALL_APIS},
            presets={"resend": SmtpPreset("smtp.resend.com", username="resend")},
        ),
    )
    SMTP2GO = (
        "smtp2go",
        ProviderFacts(
            "SMTP2GO",
            "https://developers.smtp2go.com",
            settings={**_KEEP_ID, **_OF_ALL_APIS},
            presets={"smtp2go": SmtpPreset("mail.smtp2go.com")},
        ),
    )
    SMTP = (
        "smtp",
        ProviderFacts("SMTP", has_api=False, settings={"auth": _TEXT, **_OAUTH}),
    )
    GMAIL = (
        "gmail",
        ProviderFacts(
            "Gmail",
            "https://developers.google.com/workspace/gmail/api/reference/rest",
            sends_events=False,
            settings={**_OAUTH, **_OF_ALL_APIS},
            username="mailbox",
            presets={
                # 2,000 messages per user in 24 hours: https://support.google.com/a/answer/166852
                "gmail": SmtpPreset(
                    "smtp.gmail.com",
                    limits={"daily_limit": 2000, "batch_size": 50, "send_delay_ms": 100},
                ),
                "gmail-relay": SmtpPreset("smtp-relay.gmail.com"),
            },
        ),
    )
    # The built-in mail trap: no mail leaves this host.
    TRAP = ("trap", ProviderFacts("Mail trap", has_api=False, sends_events=False))

    @property
    def has_api(self) -> bool:
        """Return whether it has an HTTP API for sending."""
        return self.facts.has_api


PROVIDERS = tuple(Provider)
"""Every provider, in the order of lists."""

NAMES_FOR_ACCOUNTS = tuple(one.value for one in PROVIDERS if one is not Provider.TRAP)
"""Providers of accounts that a project adds."""

NAMES_WITH_EVENTS = tuple(one.value for one in PROVIDERS if one.facts.sends_events)
"""Names in webhook URLs; smtp is for bounce messages that another mail server forwards."""
