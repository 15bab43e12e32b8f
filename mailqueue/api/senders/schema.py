"""What is asked and answered about sender accounts."""

from typing import Annotated, Any

from pydantic import Field

from mailqueue.api.http.schema_base import Given, OneOf
from mailqueue.api.senders.credentials import Credentials, Text
from mailqueue.core.providers import NAMES_FOR_ACCOUNTS
from mailqueue.senders.model import LimitsChange

ProviderWord = Annotated[str, OneOf(NAMES_FOR_ACCOUNTS)]
Words = Annotated[list[Text], Field(min_length=1, max_length=20)]
LIMIT_NAMES = (
    "daily_limit",
    "rate_limit_per_sec",
    "burst",
    "batch_size",
    "send_delay_ms",
    "max_connections",
    "time_zone",
    "warm_up",
)


def _kept() -> Any:
    """Describe a field that is kept where it is left out: its default means nothing."""
    return Field(json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class RoutingRules(Given):
    """Mail that takes the account: of these categories, to these recipient domains."""

    category: Words | Text | None = None
    """Category of the mail, such as `marketing`, or several; any if left out."""
    domain_pattern: Words | Text | None = None
    """Domain of the recipient: `example.com`, `*.example.com` for all below it, or several; any
    if left out.
    """

    @property
    def categories(self) -> list[str] | None:
        return [self.category] if isinstance(self.category, str) else self.category

    @property
    def domains(self) -> list[str] | None:
        given = self.domain_pattern
        return [given] if isinstance(given, str) else given


class _Config(Given):
    from_email: Text | None = None
    """From address of mail that names none, such as `shop@example.com`."""
    from_name: Text | None = None
    """Name beside that address."""
    routing_rules: RoutingRules | None = None
    """Which mail takes this account before others; null: it takes its turn by priority."""
    notes: Text | None = None
    """Notes."""
    daily_limit: int | None = None
    """Recipients per day; null is no limit."""
    rate_limit_per_sec: float | None = None
    """Recipients per second; null is no limit."""
    warm_up: list[int] | None = None
    """Recipients it may have on its 1st, 2nd, … day, such as `[200, 1000, 5000]`; null is
    no warm-up.
    """

    def limits(self) -> LimitsChange:
        """Return the limits that are named."""
        named = {name: getattr(self, name) for name in LIMIT_NAMES if name in self.model_fields_set}
        if "rate_limit_per_sec" in named:
            named["rate_per_second"] = named.pop("rate_limit_per_sec")
        if named.get("warm_up") is not None:
            named["warm_up"] = tuple(named["warm_up"])
        return LimitsChange(**named)


class NewConfig(_Config):
    """A new account. What is reached is checked when it is tried or first sends."""

    name: Text
    """What mail and people name it by, such as `ses`; it never changes."""
    provider_type: ProviderWord
    """`smtp` for a server, or the provider whose API sends."""
    credentials: Credentials
    """What the provider needs: each has fields of its own. Secrets are sealed and never shown."""
    priority: int = 100
    """Accounts are tried in this order, the lowest first."""
    is_fallback: bool = False
    """Used only while no other account may send."""
    is_active: bool = True
    """Whether it sends; false pauses it."""
    burst: int = 200
    """Recipients that may be sent at once above the rate."""
    batch_size: int = 200
    """Emails a worker claims at once."""
    send_delay_ms: int = 0
    """Milliseconds between two emails."""
    max_connections: int = 4
    """Maximum connections of one worker process."""
    time_zone: Text = "UTC"
    """Time zone of the daily limit, such as `Europe/Berlin`."""


class ConfigChange(_Config):
    """What of an account changes; what is left out is kept.

    Credentials are replaced as a whole: none is kept for another server.
    """

    name: Annotated[Text, _kept()] = ""
    """As it is, where it is given: names do not change."""
    provider_type: Annotated[ProviderWord, _kept()] = "smtp"
    """As it is, where it is given: it does not change."""
    credentials: Annotated[Credentials, _kept()] = Field(default_factory=dict)
    """All of them anew, or none: no secret is kept for another server. Left out: as they are."""
    priority: Annotated[int, _kept()] = 0
    """Accounts are tried in this order, the lowest first."""
    is_fallback: Annotated[bool, _kept()] = False
    """Used only while no other account may send."""
    is_active: Annotated[bool, _kept()] = True
    """Whether it sends; false pauses it."""
    burst: Annotated[int, _kept()] = 0
    """Recipients that may be sent at once above the rate."""
    batch_size: Annotated[int, _kept()] = 0
    """Emails a worker claims at once."""
    send_delay_ms: Annotated[int, _kept()] = 0
    """Milliseconds between two emails."""
    max_connections: Annotated[int, _kept()] = 0
    """Maximum connections of one worker process."""
    time_zone: Annotated[Text, _kept()] = ""
    """Time zone of the daily limit, such as `Europe/Berlin`."""

    def named(self, *names: str) -> dict[str, Any]:
        """Return those of these fields that the request names."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class TestRequest(Given):
    """Whom to send a mail to; without, the account connects and logs in only."""

    to: Text | None = None
    """Address to send a test email to; if omitted, it only connects and logs in."""
