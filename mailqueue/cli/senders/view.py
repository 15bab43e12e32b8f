"""Output of sender accounts: with the number sent today, never with a password."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict

from mailqueue.cli.support.answer import execute, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column
from mailqueue.senders import accounts
from mailqueue.senders.model import Headroom, SenderAccount

_COLUMNS = (
    Column("project", "PROJECT"),
    Column("name", "NAME"),
    Column("server", "SERVER"),
    Column("from", "FROM"),
    Column("priority", "PRIORITY", numeric=True),
    Column("daily_sent", "TODAY", numeric=True),
    Column("limit_today", "A DAY", numeric=True),
    Column("rate_per_second", "A SECOND", numeric=True),
    Column("status", "STATUS"),
)


def print_outcome(act: Callable[[Opened], Awaitable[SenderAccount]]) -> None:
    """Change one account and print the result."""

    async def acted(app: Opened) -> tuple[SenderAccount, Headroom]:
        account = await act(app)
        return account, (await accounts.headroom_by_id(app.conn, [account]))[account.id]

    account, today = execute(acted)
    print_facts(document(account, today), _facts(account, today))


def print_accounts(project: str | None) -> None:
    """Print one line per account."""

    async def listed(app: Opened) -> list[tuple[SenderAccount, Headroom]]:
        found = await accounts.list_all(app.conn, project=project)
        today = await accounts.headroom_by_id(app.conn, found)
        return [(account, today[account.id]) for account in found]

    found = execute(listed)
    print_rows(found, _COLUMNS, document=[document(*each) for each in found], row=_row)


def _row(listed: tuple[SenderAccount, Headroom]) -> dict[str, object]:
    account = listed[0]
    return document(*listed) | {"server": server_of(account), "from": from_of(account)}


def document(account: SenderAccount, today: Headroom) -> dict[str, object]:
    """Return an account as a JSON object, with today's numbers and whether a password is set."""
    shown = asdict(account) | asdict(today)
    del shown["sender_account_id"]
    shown["has_password"] = shown.pop("smtp_password") is not None
    return shown


def server_of(account: SenderAccount) -> str:
    """Return the provider and server of an account, as text."""
    if account.api_url is not None:
        return f"{account.provider} {account.api_url}"
    if account.smtp_host is None:
        return account.provider
    host = f"[{account.smtp_host}]" if ":" in account.smtp_host else account.smtp_host
    return f"{account.provider} {host}:{account.smtp_port} {account.smtp_tls}"


def from_of(account: SenderAccount) -> str | None:
    """Return the From address of an account."""
    if account.email is None or account.display_name is None:
        return account.email
    return f"{account.display_name} <{account.email}>"


def _facts(account: SenderAccount, today: Headroom) -> tuple[tuple[str, object], ...]:
    return (
        ("name", account.name),
        ("project", account.project),
        ("server", server_of(account)),
        ("username", account.smtp_username),
        ("settings", _settings(account)),
        ("password", "sealed" if account.smtp_password else None),
        ("from", from_of(account)),
        ("status", today.status),
        ("reason", account.status_reason),
        ("until", account.status_until),
        ("sent today", today.daily_sent),
        ("reserved", today.daily_reserved),
        ("bounces", today.daily_bounces),
        ("errors", today.daily_errors),
        ("may still send", "no daily limit" if today.headroom is None else today.headroom),
        ("day began", today.last_reset_at),
        ("waits for", today.blocked_reason),
        ("waits until", today.blocked_until),
        ("priority", account.priority),
        ("fallback", account.is_fallback),
        ("daily limit", account.daily_limit),
        ("warm-up", _warm_up(account, today)),
        ("rate a second", account.rate_per_second),
        ("burst", account.burst),
        ("batch size", account.batch_size),
        ("send delay", f"{account.send_delay_ms} ms"),
        ("connections", account.max_connections),
        ("time zone", account.time_zone),
        ("notes", account.notes),
    )


def _settings(account: SenderAccount) -> str | None:
    settings = account.provider_settings or {}
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or None


def _warm_up(account: SenderAccount, today: Headroom) -> str | None:
    if account.warm_up is None:
        return None
    stages = ", ".join(str(stage) for stage in account.warm_up)
    if today.warm_up_stage is None:
        return f"{stages} a day: over"
    return f"{stages} a day: stage {today.warm_up_stage}, {today.limit_today} today"
