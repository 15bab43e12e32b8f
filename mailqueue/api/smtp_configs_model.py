"""What is asked and answered about sender accounts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from mailqueue.api.smtp_configs_credentials import Credentials, Text
from mailqueue.senders.model import LimitsChange

ProviderWord = Literal[
    "ses", "sendgrid", "mailgun", "postmark", "resend", "smtp2go", "smtp", "gmail"
]
Words = Annotated[list[Text], Field(min_length=1, max_length=20)]
_STRICT = ConfigDict(extra="forbid", frozen=True)
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


def _kept(description: str | None = None) -> Any:
    """Describe a field that is kept where it is left out: its default means nothing."""
    return Field(description=description, json_schema_extra=lambda schema: schema.pop("default"))


class RoutingRules(BaseModel):
    """Mail that takes the account: of these categories, to these recipient domains."""

    model_config = _STRICT

    category: Words | Text | None = None
    domain_pattern: Annotated[
        Words | Text | None, Field(description="example.com, or *.example.com for those below")
    ] = None

    @property
    def categories(self) -> list[str] | None:
        return [self.category] if isinstance(self.category, str) else self.category

    @property
    def domains(self) -> list[str] | None:
        given = self.domain_pattern
        return [given] if isinstance(given, str) else given


class _Config(BaseModel):
    model_config = _STRICT

    from_email: Text | None = None
    from_name: Text | None = None
    routing_rules: RoutingRules | None = None
    notes: Text | None = None
    daily_limit: Annotated[int | None, Field(description="Recipients a day")] = None
    rate_limit_per_sec: Annotated[float | None, Field(description="Recipients a second")] = None
    warm_up: Annotated[list[int] | None, Field(description="Recipients on day 1, day 2, …")] = None

    def limits(self) -> LimitsChange:
        """Give the limits that are named."""
        named = {name: getattr(self, name) for name in LIMIT_NAMES if name in self.model_fields_set}
        if "rate_limit_per_sec" in named:
            named["rate_per_second"] = named.pop("rate_limit_per_sec")
        if named.get("warm_up") is not None:
            named["warm_up"] = tuple(named["warm_up"])
        return LimitsChange(**named)


class NewConfig(_Config):
    """A new account. What is reached is checked when it is tried or first sends."""

    name: Text
    provider_type: ProviderWord
    credentials: Credentials
    priority: Annotated[int, Field(description="Lower is tried first")] = 100
    is_fallback: Annotated[bool, Field(description="Only while no other may send")] = False
    is_active: bool = True
    burst: int = 200
    batch_size: int = 200
    send_delay_ms: int = 0
    max_connections: int = 4
    time_zone: Text = "UTC"


class ConfigChange(_Config):
    """What of an account changes; what is left out is kept.

    Credentials are replaced as a whole: none is kept for another server.
    """

    name: Annotated[Text, _kept("As it is: names do not change")] = ""
    provider_type: Annotated[ProviderWord, _kept("As it is")] = "smtp"
    credentials: Annotated[Credentials, _kept()] = {}
    priority: Annotated[int, _kept()] = 0
    is_fallback: Annotated[bool, _kept()] = False
    is_active: Annotated[bool, _kept()] = True
    burst: Annotated[int, _kept()] = 0
    batch_size: Annotated[int, _kept()] = 0
    send_delay_ms: Annotated[int, _kept()] = 0
    max_connections: Annotated[int, _kept()] = 0
    time_zone: Annotated[Text, _kept()] = ""

    def named(self, *names: str) -> dict[str, Any]:
        """Give those of these fields that the request names."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class TestRequest(BaseModel):
    """Whom to send a mail to; without, the account connects and logs in only."""

    model_config = _STRICT

    to: Text | None = None


@dataclass(frozen=True, slots=True)
class ShownRouting:
    """Mail that takes the account by a rule; None: any."""

    category: list[str] | None
    domain_pattern: list[str] | None


@dataclass(frozen=True, slots=True)
class ShownConfig:
    """An account; its credentials are masked. Counts are recipients."""

    id: int
    project_id: UUID
    name: str
    provider_type: str
    credentials: dict[str, Any]
    priority: int
    is_primary: bool
    is_fallback: bool
    is_active: bool
    status: str
    status_reason: str | None
    status_until: datetime | None
    circuit_state: str
    routing_rules: ShownRouting | None
    from_email: str | None
    from_name: str | None
    daily_limit: int | None
    sent_today: int
    headroom: int | None
    rate_limit_per_sec: float | None
    burst: int
    batch_size: int
    send_delay_ms: int
    max_connections: int
    time_zone: str
    warm_up: list[int] | None
    notes: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ShownConfigs:
    """The accounts of a project, in the order they are tried."""

    data: list[ShownConfig]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class ShownHealth:
    """How an account fares; `failures` counts the last hour by class, errors are newest first."""

    status: str
    status_reason: str | None
    circuit_state: str
    circuit_since: datetime | None
    next_probe_at: datetime | None
    openings: int
    recent_failures: int
    recent_domains: int
    recent_sent: int
    failures: dict[str, int]
    last_errors: list[str]
    last_failed_at: datetime | None
    recommendation: str


@dataclass(frozen=True, slots=True)
class SaidLine:
    """One line of the conversation with a server, without secrets."""

    by: str
    line: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a try; `sent` is None where no mail was asked for."""

    success: bool
    sent: bool | None
    connect_ms: int
    send_ms: int | None
    kind: str | None
    code: str | None
    detail: str | None
    stage: str | None
    transcript: list[SaidLine]
