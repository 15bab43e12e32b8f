"""The context of checks, and functions that build findings."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mailqueue.contract.admin import HealthCheck
from mailqueue.db.fetch import Conn
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.operations.model import CheckState, Finding
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import MasterKey


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The installation that is checked: settings, connection, master key if any, file storage."""

    settings: Settings
    conn: Conn
    read_master_key: Callable[[], MasterKey | None]
    storage: AttachmentStorage


Check = Callable[[CheckContext], Awaitable[Finding]]


def passed(check: str, says: str) -> Finding:
    """Return a finding without a fault."""
    return Finding(check, is_ok=True, says=says)


def problem(check: str, says: str, *, fix: str) -> Finding:
    """Return a finding with a fault and its fix."""
    return Finding(check, is_ok=False, says=says, fix=fix, state=CheckState.ALARM)


def check_of(finding: Finding) -> HealthCheck:
    """Return a finding as callers see it."""
    return HealthCheck(finding.check, finding.state.value, finding.says, finding.fix)


def some(names: list[str], limit: int = 3) -> str:
    """Return the first few names and the number of others."""
    rest = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {rest} more" if rest > 0 else "")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
