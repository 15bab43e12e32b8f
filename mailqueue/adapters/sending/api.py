"""The interface that a provider's file implements: its requests, and what its responses mean."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending.outcomes import cleaned
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

ID_NAME = "mailqueue_id"
"""Name of the metadata with the email's id, which the provider's events return."""
CATEGORY_NAME = "category"
_NOT_IN_NAMED_TAGS = re.compile(r"[^A-Za-z0-9_-]")


def tags_of(mail: SendAttempt) -> tuple[str, ...]:
    """Return the email's tags for the provider's statistics; its category if it has none."""
    given = mail.tags or (mail.category,)
    return tuple(dict.fromkeys(tag for one in given if (tag := cleaned(one))))


def metadata_of(mail: SendAttempt) -> dict[str, str]:
    """Return the metadata that the provider's events return, by name."""
    category = {CATEGORY_NAME: cleaned(mail.category)} if mail.category else {}
    return {ID_NAME: str(mail.email_id), **category}


def named_tags_of(mail: SendAttempt) -> dict[str, str]:
    """Return metadata and tags, for providers whose tags have names and a small character set."""
    tags = {f"tag{n}": tag for n, tag in enumerate(tags_of(mail), 1)} if mail.tags else {}
    named = metadata_of(mail) | tags
    return {name: _NOT_IN_NAMED_TAGS.sub("_", value)[:256] for name, value in named.items()}


@dataclass(frozen=True, slots=True)
class ProviderAccount:
    """Credentials and settings of one account at a provider.

    `key_id` is for keys with two parts. `settings` are the provider's, by name; their `extra` is a
    mapping of additional request fields. `site` None is the provider's usual origin.
    """

    secret: Secret
    key_id: str = ""
    site: HttpOrigin | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def setting(self, name: str) -> str:
        """Return a setting as text; "" if it is not set."""
        return str(self.settings.get(name) or "")

    def extra(self, *, but: Collection[str] = ()) -> dict[str, Any]:
        """Return additional request fields except those in `but`, which are in lower case.

        Excepted are the fields that each email decides: a blind copy named by the account, for
        example, would bypass suppression.
        """
        found = self.settings.get("extra")
        given = found if isinstance(found, Mapping) else {}
        return {name: value for name, value in given.items() if name.lower() not in but}


@dataclass(frozen=True, slots=True)
class ProviderMail:
    """An email in the provider's format: bytes that go into the request unchanged."""

    mail: SendAttempt
    octets: bytes
    goes_alone: bool = False  # it cannot share a request
    copy: str = ""  # distinguishes emails of the same id


class ProviderApi(ABC):
    """The API of one provider for one account, with defaults that suit most providers."""

    site: HttpOrigin
    secrets: tuple[Secret, ...] = ()  # redacted in recorded responses
    most_in_call = 1
    max_call_bytes = 0  # of a request with several emails
    is_repeatable = False  # requests carry an idempotency key

    @abstractmethod
    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        """Return the email in the provider's format, or a Rejected with the reason."""

    @abstractmethod
    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        """Return the request that sends these emails, signed with the current time."""

    @abstractmethod
    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        """Return the verdict of each email, in order."""

    async def authorise(self) -> Rejected | None:
        """Obtain an access token if the provider needs one; return a Rejected if that fails."""
        return None

    def renew(self, answer: HttpResponse) -> bool:  # noqa: ARG002
        """Return whether to repeat the request: a token expired, or the local clock was wrong."""
        return False
