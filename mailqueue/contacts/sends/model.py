"""Mail to lists of contacts. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ListSend:
    """Mail to all contacts of a list.

    `content` is subject, html and text, or template (`slug@version`) and language: then contacts
    get the text of their own language where the template has it. `options` are those of mail,
    without cc, bcc and idempotency_key. Beside `variables`, each mail has the fields of its contact
    as `contact`. `own` is the custom_data and the tags of each mail.

    `local_at` is a time without a zone, before which no mail is sent: in the zone of each contact,
    else in `time_zone`, else in that of the project.
    """

    list_name: str
    content: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    local_at: datetime | None = None
    time_zone: str | None = None
    excluded: Sequence[UUID] = ()
    """Ids of contacts that are left out."""
