"""What checks look at, and how they say what they found."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mailqueue.db.fetch import Conn
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.operations.model import Finding, State
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import MasterKey


@dataclass(frozen=True, slots=True)
class Patient:
    """One installation: settings, database, master key if there is one, places of large files."""

    settings: Settings
    conn: Conn
    read_master_key: Callable[[], MasterKey | None]
    shelf: AttachmentStorage


Check = Callable[[Patient], Awaitable[Finding]]


def sound(check: str, says: str) -> Finding:
    """Return a finding that reports no fault."""
    return Finding(check, is_ok=True, says=says)


def unsound(check: str, says: str, *, fix: str) -> Finding:
    """Return what is wrong and what to do about it."""
    return Finding(check, is_ok=False, says=says, fix=fix, state=State.ALARM)


def some(names: list[str], most: int = 3) -> str:
    """Name the first few and count the rest."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
