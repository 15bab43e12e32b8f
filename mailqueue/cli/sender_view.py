"""How sender accounts are shown: never with a password."""

from dataclasses import asdict

from mailqueue.cli.output import Column, emit, facts, table
from mailqueue.senders.model import SenderAccount

_COLUMNS = (
    Column("project", "PROJECT"),
    Column("name", "NAME"),
    Column("server", "SERVER"),
    Column("from", "FROM"),
    Column("priority", "PRIORITY", numeric=True),
    Column("daily_limit", "A DAY", numeric=True),
    Column("rate_per_second", "A SECOND", numeric=True),
    Column("status", "STATUS"),
)


def print_account(account: SenderAccount, *, as_json: bool) -> None:
    """Print everything about one account."""
    if as_json:
        emit(document(account))
        return
    facts(
        (
            ("name", account.name),
            ("project", account.project),
            ("server", server_of(account)),
            ("username", account.smtp_username),
            ("password", "sealed" if account.smtp_password else None),
            ("from", from_of(account)),
            ("status", account.status),
            ("reason", account.status_reason),
            ("until", account.status_until),
            ("priority", account.priority),
            ("daily limit", account.daily_limit),
            ("rate a second", account.rate_per_second),
            ("burst", account.burst),
            ("batch size", account.batch_size),
            ("send delay", f"{account.send_delay_ms} ms"),
            ("connections", account.max_connections),
            ("time zone", account.time_zone),
            ("notes", account.notes),
        )
    )


def print_accounts(found: list[SenderAccount], *, as_json: bool) -> None:
    """Print a line for each account."""
    if as_json:
        emit([document(account) for account in found])
        return
    rows = [
        asdict(account) | {"server": server_of(account), "from": from_of(account)}
        for account in found
    ]
    table(rows, _COLUMNS)


def document(account: SenderAccount) -> dict[str, object]:
    """Give an account as JSON shows it: the columns, and whether there is a password."""
    shown = asdict(account)
    shown["has_password"] = shown.pop("smtp_password") is not None
    return shown


def server_of(account: SenderAccount) -> str:
    """Say what stands behind an account."""
    if account.smtp_host is None:
        return account.provider
    host = f"[{account.smtp_host}]" if ":" in account.smtp_host else account.smtp_host
    return f"{account.provider} {host}:{account.smtp_port} {account.smtp_tls}"


def from_of(account: SenderAccount) -> str | None:
    """Give the sender people see."""
    if account.email is None or account.display_name is None:
        return account.email
    return f"{account.display_name} <{account.email}>"
