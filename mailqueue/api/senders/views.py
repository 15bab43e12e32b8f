"""Sender accounts in the form shown to callers, and the field names of errors."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from mailqueue.api.http.context import Call
from mailqueue.api.http.responses import Violations
from mailqueue.api.senders.credentials import shown as shown_credentials
from mailqueue.contract.senders import Sender, SenderRouting
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.providers import Provider
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts, changing, health
from mailqueue.senders.model import Headroom, SenderAccount, SenderHealth, SenderStatus
from mailqueue.senders.routes import manage as routes_manage
from mailqueue.senders.routes.model import Route

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


async def account_of(conn: Conn, call: Call) -> SenderAccount:
    """Return the account that the path names.

    Raises:
        NotFound: the caller's project has no such account; the trap is not shown.
    """
    given = call.path["config_id"]
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise NotFound("sender account", given[:100])
    account = await changing.get(conn, call.caller.project, account_id=int(given))
    if account.provider is Provider.TRAP:
        raise NotFound("sender account", given)
    return account


async def shown_one(conn: Conn, account: SenderAccount) -> Sender:
    """Return one account in the form shown to callers."""
    everyone = await accounts.list_all(conn, project=account.project)
    return next(one for one in await shown(conn, account.project, everyone) if one.id == account.id)


async def shown(conn: Conn, project: str, found: Sequence[SenderAccount]) -> list[Sender]:
    """Return all accounts of a project in the form shown to callers, without the trap."""
    mine = [account for account in found if account.provider is not Provider.TRAP]
    today = await accounts.headroom_by_id(conn, mine)
    circuits = {one.sender: one for one in await health.of_all(conn, project=project)}
    rules = await routes_manage.list_all(conn, project=project)
    first = next((one.id for one in mine if not one.is_fallback), None)
    return [
        _config(
            account,
            today[account.id],
            circuits[account.name],
            rules=[rule for rule in rules if account.name in rule.senders],
            is_primary=account.id == first,
        )
        for account in mine
    ]


def _config(
    account: SenderAccount,
    today: Headroom,
    fares: SenderHealth,
    *,
    rules: Sequence[Route],
    is_primary: bool,
) -> Sender:
    return Sender(
        id=account.id,
        project_id=account.project_id,
        name=account.name,
        provider_type=account.provider,
        credentials=shown_credentials(account),
        priority=account.priority,
        is_primary=is_primary,
        is_fallback=account.is_fallback,
        is_active=account.status is SenderStatus.ACTIVE,
        status=today.status,
        status_reason=account.status_reason,
        status_until=account.status_until,
        circuit_state=fares.circuit,
        routing_rules=_routing(rules),
        from_email=account.email,
        from_name=account.display_name,
        daily_limit=account.daily_limit,
        sent_today=today.daily_sent,
        headroom=today.headroom,
        rate_limit_per_sec=account.rate_per_second,
        burst=account.burst,
        batch_size=account.batch_size,
        send_delay_ms=account.send_delay_ms,
        max_connections=account.max_connections,
        time_zone=account.time_zone,
        warm_up=None if account.warm_up is None else list(account.warm_up),
        notes=account.notes,
        created_at=account.created_at,
        updated_at=account.updated_at,
    )


def _routing(rules: Sequence[Route]) -> SenderRouting | None:
    """Return the routing of an account from its rules; rules by tag are not shown here."""
    mine = [rule for rule in rules if rule.tag is None]
    if not mine:
        return None
    categories = list(dict.fromkeys(rule.category for rule in mine if rule.category))
    domains = list(dict.fromkeys(rule.domain for rule in mine if rule.domain))
    return SenderRouting(categories or None, domains or None)
