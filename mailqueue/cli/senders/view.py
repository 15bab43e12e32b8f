"""Output of sender accounts: with the number sent today, never with a password."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from itertools import groupby

from mailqueue.cli.support.answer import execute, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, in_project
from mailqueue.cli.support.warm_up_option import ranges_of
from mailqueue.contract.page import Page
from mailqueue.contract.senders import Sender
from mailqueue.senders import accounts
from mailqueue.senders.model import Headroom, SenderAccount
from mailqueue.senders.values import sender_of, senders_of

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

    async def acted(app: Opened) -> tuple[SenderAccount, Headroom, Sender]:
        account = await act(app)
        today = (await accounts.headroom_by_id(app.conn, [account]))[account.id]
        return account, today, await sender_of(app.conn, account)

    account, today, shown = execute(acted)
    print_facts(shown, _facts(account, today))


def print_accounts(project: str | None) -> None:
    """Print one line per account."""

    async def listed(app: Opened) -> tuple[list[dict[str, object]], list[object]]:
        found = await accounts.list_all(app.conn, project=project)
        today = await accounts.headroom_by_id(app.conn, found)
        shown: list[object] = []
        for name, mine in groupby(found, key=lambda account: account.project):
            values = await senders_of(app.conn, name, list(mine))
            shown += [in_project(value, None if project else name) for value in values]
        return [_row(account, today[account.id]) for account in found], shown

    rows, shown = execute(listed)
    print_rows(rows, _COLUMNS, document=Page(shown, None))


def _row(account: SenderAccount, today: Headroom) -> dict[str, object]:
    named = {"server": server_of(account), "from": from_of(account)}
    return asdict(account) | asdict(today) | named


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
        ("hourly limit", _window(account.hourly_limit, today.hourly_headroom)),
        ("minute limit", _window(account.minute_limit, today.minute_headroom)),
        ("last used", today.last_used_at),
        ("rate a second", account.rate_per_second),
        ("burst", account.allowed_burst),
        ("batch size", account.batch_size),
        ("send delay", f"{account.send_delay_ms} ms"),
        ("connections", account.max_connections),
        ("time zone", account.time_zone),
        ("notes", account.notes),
    )


def _window(limit: int | None, headroom: int | None) -> str | None:
    return None if limit is None else f"{limit}, {headroom} left now"


def _settings(account: SenderAccount) -> str | None:
    settings = account.provider_settings or {}
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or None


def _warm_up(account: SenderAccount, today: Headroom) -> str | None:
    if account.warm_up is None:
        return None
    stages = ranges_of(account.warm_up)
    if today.warm_up_stage is None:
        return f"{stages} a day: over"
    return f"{stages} a day: day {today.warm_up_stage}, {today.limit_today} today"
