"""Values that programs pass to queue a mail, and the result."""

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Required, TypedDict
from uuid import UUID

from mailqueue.core.errors import InvalidField

Addresses = str | Sequence[str]
"""One mailbox, or several: `ann@example.com`, `Ann <ann@example.com>`."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file to attach; the HTML shows one with a `content_id` as `cid:…`.

    With `content_type` None the type follows from the file's name.
    """

    filename: str
    content: bytes
    content_type: str | None = None
    content_id: str | None = None

    def written(self) -> dict[str, str]:
        """Return the attachment as a JSON object.

        Raises:
            InvalidField: its content type cannot be told from its name.
        """
        kind = self.content_type or mimetypes.guess_type(self.filename)[0]
        if kind is None:
            raise InvalidField("attachments", f"the content_type of {self.filename!r} is needed")
        found = {
            "filename": self.filename,
            "content_type": kind,
            "content": base64.b64encode(self.content).decode(),
        }
        return found if self.content_id is None else found | {"content_id": self.content_id}

    def __repr__(self) -> str:
        return f"Attachment({self.filename!r}, {len(self.content)} bytes)"


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file that was uploaded before, attached by its id."""

    id: UUID | str
    content_id: str | None = None

    def written(self) -> dict[str, str]:
        """Return the file as a JSON object."""
        found = {"id": str(self.id)}
        return found if self.content_id is None else found | {"content_id": self.content_id}


class MailFields(TypedDict, total=False):
    """Options of every mail apart from content and recipients; None is the same as absent."""

    from_email: str | None
    from_name: str | None
    reply_to: str | None
    headers: Mapping[str, str] | None
    attachments: Sequence[Attachment | UploadedFile] | None
    tags: Sequence[str] | None
    category: str | None
    campaign_id: str | None
    priority: str | int | None  # critical, high, normal or low
    run_at: datetime | None
    expires_at: datetime | None
    delivery: str | None  # resend or hold
    track_opens: bool | None
    track_clicks: bool | None
    unsubscribe: bool | None
    sender: str | None
    max_attempts: int | None
    idempotency_key: str | None


class BatchFields(MailFields, total=False):
    """Options of a batch: content that all its mails share, or a template."""

    subject: str | None
    html: str | None
    text: str | None
    template: str | None  # a slug, or slug@3 for version 3
    variables: Mapping[str, Any] | None
    language: str | None


class MailOptions(BatchFields, total=False):
    """Options of one mail apart from its first recipients."""

    cc: Addresses | None
    bcc: Addresses | None
    custom_data: Mapping[str, Any] | None


class TemplateOptions(MailFields, total=False):
    """Options of one mail from a template apart from its first recipients."""

    cc: Addresses | None
    bcc: Addresses | None
    custom_data: Mapping[str, Any] | None
    variables: Mapping[str, Any] | None
    language: str | None


class EmailFields(MailOptions, total=False):
    """One mail of a batch."""

    to: Required[Addresses]


@dataclass(frozen=True, slots=True)
class Enqueued:
    """Result of one mail: queued, suppressed, duplicate (of the mail `id`) or rejected (no `id`).

    `field` and `reason` explain a rejection; `field` is the field of the mail at fault.
    """

    id: UUID | None
    status: str
    reason: str | None = None
    field: str | None = None
