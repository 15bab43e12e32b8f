"""What a provider's documentation says, as tests use it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from mailqueue.adapters.http.model import HttpOrigin, NetworkPolicy
from mailqueue.adapters.sending.api import ProviderApi
from mailqueue.adapters.sending.oauth import GOOGLE_TOKENS, RefreshToken, Tokens
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Fault
from tests.adapters.sending.fake import FakeReply, Request
from tests.adapters.sending.strict import CHECK_BY_PROVIDER

KEY = "key-hunter2"
ANN = "ann@example.org"


class KnownToken(Tokens):
    """Token source that has its token already."""

    def __init__(self) -> None:
        grant = RefreshToken("id", Secret("s"), Secret("r"), GOOGLE_TOKENS)
        super().__init__(grant, NetworkPolicy())
        self.dropped = 0

    async def get(self) -> Secret:
        return Secret(KEY)

    def drop(self) -> None:
        self.dropped += 1


@dataclass(frozen=True, slots=True)
class Refusal:
    """One documented refusal and its meaning. `stops`: it concerns the account, not the mail."""

    status: int
    body: Any
    kind: Fault
    stops: bool = False
    hard: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def reply(self) -> FakeReply:
        if isinstance(self.body, bytes):
            return FakeReply(self.status, self.body, self.headers)
        return FakeReply(self.status, orjson.dumps(self.body), self.headers)


@dataclass(frozen=True, slots=True)
class DocumentedProvider:
    """One provider: its service, its usual response, and its refusals."""

    name: str
    make: Callable[[HttpOrigin, Mapping[str, Any]], ProviderApi]
    accepts: FakeReply
    message_id: str | None
    refusals: tuple[Refusal, ...]

    def service(self, site: HttpOrigin, **settings: Any) -> ProviderApi:
        return self.make(site, settings)

    def check(self, request: Request) -> None:
        """Refuse a request that the provider would refuse: unknown fields, wrong types, no key."""
        CHECK_BY_PROVIDER[self.name](request)
