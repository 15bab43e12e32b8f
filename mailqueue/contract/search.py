"""What a search finds."""

from dataclasses import dataclass
from datetime import datetime

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class Match(Value):
    """An email, batch, recipient, project or template that a search found."""

    kind: str
    """`email`, `batch`, `recipient`, `project` or `template`; `archive` for the id of an email that
    is not in the database and may be in the archive.
    """
    project: str | None
    """Slug of its project; null with `archive`."""
    id: str
    """Its id; the address of a recipient."""
    title: str | None
    """Subject of an email or batch; name of a template; name to show of a project, or of that of a
    recipient; how to look in the archive.
    """
    detail: str | None
    """Recipient of an email; slug of a template."""
    status: str | None
    """Status of an email or project; why a recipient is suppressed."""
    emails: int | None
    """Emails of a batch, or to a recipient; those to a recipient are counted up to 1,000 each among
    finished emails, unfinished ones, and emails to several recipients.
    """
    at: datetime | None
    """When an email was accepted, a project created, a template changed, a recipient written to."""
    matched: str
    """What the text is: `id`, `message_id`, `provider_message_id`, `address` or `name`."""
