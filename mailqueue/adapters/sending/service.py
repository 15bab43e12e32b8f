"""What a provider's file says: how a mail is written for it, and what its answers mean."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mailqueue.adapters.http.model import Answer, Call, Site
from mailqueue.adapters.sending.outcomes import cleaned
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

ID_NAME = "mailqueue_id"
"""Under this name the id of a mail goes out with it, and comes back in the provider's events."""
CATEGORY_NAME = "category"
_NOT_IN_NAMED_TAGS = re.compile(r"[^A-Za-z0-9_-]")


def tags_of(mail: SendAttempt) -> tuple[str, ...]:
    """Return the words a provider is to count a mail by; one without tags counts by its
    category.
    """
    given = mail.tags or (mail.category,)
    return tuple(dict.fromkeys(tag for one in given if (tag := cleaned(one))))


def metadata_of(mail: SendAttempt) -> dict[str, str]:
    """Return what is to come back in the provider's events, name to value."""
    category = {CATEGORY_NAME: cleaned(mail.category)} if mail.category else {}
    return {ID_NAME: str(mail.email_id), **category}


def named_tags_of(mail: SendAttempt) -> dict[str, str]:
    """Return metadata and tags, for providers whose tags have names and few characters."""
    tags = {f"tag{n}": tag for n, tag in enumerate(tags_of(mail), 1)} if mail.tags else {}
    named = metadata_of(mail) | tags
    return {name: _NOT_IN_NAMED_TAGS.sub("_", value)[:256] for name, value in named.items()}


@dataclass(frozen=True, slots=True)
class Access:
    """Who we are at a provider, and what the account asks of it.

    `key_id` is there where a key has two halves. `settings` are the provider's own, by name;
    `extra` in it is a mapping of further fields of the request. `site` None is the usual one.
    """

    secret: Secret
    key_id: str = ""
    site: Site | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def setting(self, name: str) -> str:
        """Return a setting as text, "" where it is not set."""
        return str(self.settings.get(name) or "")

    def extra(self, *, but: Collection[str] = ()) -> dict[str, Any]:
        """Return further fields of the request without those of `but`, in lower case.

        Those are what a mail decides even where it has none: an account that names a blind copy
        would have each mail sent to an address that no suppression stops.
        """
        found = self.settings.get("extra")
        given = found if isinstance(found, Mapping) else {}
        return {name: value for name, value in given.items() if name.lower() not in but}


@dataclass(frozen=True, slots=True)
class Written:
    """A mail in the provider's form: octets that the call carries as they are."""

    mail: SendAttempt
    octets: bytes
    goes_alone: bool = False  # it cannot share a call
    copy: str = ""  # told apart by it from other mails of the same id


class Service(ABC):
    """One account at one provider. What stands here is what most providers have in common."""

    site: Site
    secrets: tuple[Secret, ...] = ()  # taken out of what is recorded of its answers
    most_in_call = 1
    most_call_bytes = 0  # of a call with several
    is_repeatable = False  # the same call may be made again: the provider knows it by a key

    @abstractmethod
    def write(self, mail: SendAttempt) -> Written | Rejected:
        """Put a mail into the provider's form; Rejected where it cannot carry it, naming why."""

    @abstractmethod
    def call(self, group: Sequence[Written]) -> Call:
        """Return the request that sends these mails, signed for this moment."""

    @abstractmethod
    def judge(self, group: Sequence[Written], answer: Answer) -> Sequence[Verdict]:
        """Return what the answer means for each of the mails, in their order."""

    async def authorise(self) -> Rejected | None:
        """Get what calls are authorised with, where that takes asking somebody."""
        return None

    def renew(self, answer: Answer) -> bool:  # noqa: ARG002
        """Return whether the same call may succeed now: a token ran out, or our clock was wrong."""
        return False
