"""Ids of sender accounts in paths, and the field names of errors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import Violations
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.providers import Provider
from mailqueue.db.fetch import Conn
from mailqueue.senders import changing
from mailqueue.senders.model import SenderAccount

_FIELD_BY_OURS: Mapping[str, str] = {
    "email": "from_email",
    "display_name": "from_name",
    "rate_per_second": "rate_limit_per_sec",
    "sender": "routing_rules",
    "category": "routing_rules.category",
    "domain": "routing_rules.domain_pattern",
}
_OF_CREDENTIALS = ("host", "port", "username", "password", "api_key", "api_url", "setting")


@contextmanager
def renamed(credentials: object = None) -> Iterator[None]:
    """Replace the field names of errors by those of the API; no credentials are repeated."""
    try:
        yield
    except Violations:
        raise  # has the API's field name already
    except InvalidField as exc:
        field, why = _FIELD_BY_OURS.get(exc.field, exc.field), exc.why
        if exc.field in _OF_CREDENTIALS:
            field = f"credentials.{exc.field}"
            for text in sorted(_texts(credentials), key=len, reverse=True):
                why = why.replace(repr(text), "…").replace(text, "…")
        raise InvalidField(field, why) from None


def _texts(value: object) -> Iterator[str]:
    match value:
        case str() if value:
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)


async def account_of(conn: Conn, call: RequestContext) -> SenderAccount:
    """Return the account that the path names.

    Raises:
        NotFound: the caller's project has no such account; the trap is not shown.
    """
    given = call.path["config_id"]
    account = await changing.named(conn, call.caller.project, name=given)
    if account.provider is Provider.TRAP:
        raise NotFound("sender account", given[:100])
    return account
