"""Request bodies of sender accounts."""

from typing import Annotated, Any

from pydantic import Field

from mailqueue.api.http.schema_base import OneOf, RequestModel
from mailqueue.api.senders.credentials import AccountCredentials, ShortText
from mailqueue.core.providers import NAMES_FOR_ACCOUNTS
from mailqueue.senders.model import LimitsChange

ProviderWord = Annotated[str, OneOf(NAMES_FOR_ACCOUNTS)]
TextList = Annotated[list[ShortText], Field(min_length=1, max_length=20)]
LIMIT_NAMES = (
    "daily_limit",
    "hourly_limit",
    "minute_limit",
    "rate_limit_per_sec",
    "burst",
    "batch_size",
    "send_delay_ms",
    "max_connections",
    "time_zone",
    "warm_up",
)


def _kept() -> Any:
    """Return a field that is unchanged if omitted; its default value is not used."""
    return Field(json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class RoutingRules(RequestModel):
    """Mail that this account sends: of these categories, to these recipient domains."""

    category: TextList | ShortText | None = None
    """Category of the email, such as `marketing`, or a list; any if omitted."""
    domain_pattern: TextList | ShortText | None = None
    """Recipient domain: `example.com`, `*.example.com` for its subdomains, or a list; any if
    omitted.
    """

    @property
    def categories(self) -> list[str] | None:
        return [self.category] if isinstance(self.category, str) else self.category

    @property
    def domains(self) -> list[str] | None:
        given = self.domain_pattern
        return [given] if isinstance(given, str) else given


class _SenderSettings(RequestModel):
    from_email: ShortText | None = None
    """Default From address, such as `shop@example.com`."""
    from_name: ShortText | None = None
    """Default name beside that address."""
    routing_rules: RoutingRules | None = None
    """Mail that this account sends before others; null: accounts are used by priority."""
    notes: ShortText | None = None
    """Notes."""
    daily_limit: int | None = None
    """Recipients per day; null is no limit."""
    hourly_limit: int | None = None
    """Recipients in any 60 minutes; null is no limit."""
    minute_limit: int | None = None
    """Recipients in any 60 seconds; null is no limit."""
    rate_limit_per_sec: float | None = None
    """Recipients per second; null is no limit."""
    warm_up: list[int] | None = None
    """Recipients on its 1st, 2nd, … day of sending, such as `[200, 200, 1000, 1000, 1000]`; null is
    no warm-up.
    """

    def limits(self) -> LimitsChange:
        """Return the given limits."""
        named = {name: getattr(self, name) for name in LIMIT_NAMES if name in self.model_fields_set}
        if "rate_limit_per_sec" in named:
            named["rate_per_second"] = named.pop("rate_limit_per_sec")
        if named.get("warm_up") is not None:
            named["warm_up"] = tuple(named["warm_up"])
        return LimitsChange(**named)


class CreateSender(_SenderSettings):
    """A sender account to create. Its server is checked by a test or the first email."""

    name: ShortText
    """Name, such as `ses`; it cannot be changed."""
    provider_type: ProviderWord
    """`smtp` for an SMTP server, or the provider whose API is used."""
    credentials: AccountCredentials
    """Credentials; each kind of provider has its own fields. Secrets are encrypted and never
    shown.
    """
    priority: int = 100
    """Accounts are used in this order, the lowest number first."""
    is_fallback: bool = False
    """Used only while no other account may send."""
    is_active: bool = True
    """Whether it sends; false pauses it."""
    burst: Annotated[int, _kept()] = 0
    """Recipients that one second may have beyond the rate; if omitted, what the rate gives in one
    second.
    """
    batch_size: int = 200
    """Emails a worker claims at once."""
    send_delay_ms: int = 0
    """Milliseconds between two emails."""
    max_connections: int = 4
    """Maximum connections of one worker process."""
    time_zone: ShortText = "UTC"
    """Time zone of the daily limit, such as `Europe/Berlin`."""


class ChangeSender(_SenderSettings):
    """Fields of an account to change; omitted fields are unchanged.

    Credentials are replaced as a whole: none is used with another server.
    """

    name: Annotated[ShortText, _kept()] = ""
    """The current name, if given: names cannot be changed."""
    provider_type: Annotated[ProviderWord, _kept()] = "smtp"
    """The current provider, if given: it cannot be changed."""
    credentials: Annotated[AccountCredentials, _kept()] = Field(default_factory=dict)
    """All credentials, which replace the current ones; unchanged if omitted."""
    priority: Annotated[int, _kept()] = 0
    """Accounts are used in this order, the lowest number first."""
    is_fallback: Annotated[bool, _kept()] = False
    """Used only while no other account may send."""
    is_active: Annotated[bool, _kept()] = True
    """Whether it sends; false pauses it."""
    burst: Annotated[int, _kept()] = 0
    """Recipients that one second may have beyond the rate."""
    batch_size: Annotated[int, _kept()] = 0
    """Emails a worker claims at once."""
    send_delay_ms: Annotated[int, _kept()] = 0
    """Milliseconds between two emails."""
    max_connections: Annotated[int, _kept()] = 0
    """Maximum connections of one worker process."""
    time_zone: Annotated[ShortText, _kept()] = ""
    """Time zone of the daily limit, such as `Europe/Berlin`."""

    def named(self, *names: str) -> dict[str, Any]:
        """Return the fields that the request names."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class TestRequest(RequestModel):
    """Recipient of a test email; without one, the account only connects and logs in."""

    to: ShortText | None = None
    """Address to send a test email to; if omitted, it only connects and logs in."""
