"""Bodies of broadcasts in Resend's API. Values only."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from mailqueue.api.compat.mailboxes import mailbox, split_mailbox
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField

MAX_REPLY_TO = 50
_Subject = Annotated[StorableText, Field(min_length=1, max_length=998)]
_Box = Annotated[StorableText, Field(max_length=600)]
_Boxes = _Box | Annotated[list[_Box], Field(max_length=MAX_REPLY_TO)]
_Id = Annotated[UUID, Field(strict=False)]
_CONTENT = ("subject", "html", "text", "preview_text")


class ChangedBroadcast(StrictRequestModel):
    """The body of PATCH /broadcasts/{broadcast_id}; what is left out stays.

    The Python client sends `broadcast_id` along; that of the path counts.
    """

    broadcast_id: StorableText | None = None
    name: Annotated[StorableText, Field(max_length=200)] | None = None
    segment_id: _Id | None = None
    audience_id: _Id | None = None
    sender: _Box | None = Field(default=None, alias="from")
    reply_to: _Boxes | None = None
    subject: _Subject | None = None
    html: StorableText | None = None
    text: StorableText | None = None
    preview_text: Annotated[StorableText, Field(max_length=500)] | None = None
    topic_id: _Id | None = None

    @property
    def list_id(self) -> UUID | None:
        """Return the id of the segment, under its new name or its old one."""
        return self.segment_id or self.audience_id

    def content(self) -> dict[str, Any]:
        """Return the fields of the mail that are given, with mailboxes in our form.

        Raises:
            InvalidField: a mailbox is invalid.
        """
        found = {name: getattr(self, name) for name in _CONTENT if name in self.model_fields_set}
        if self.sender is not None:
            found["from"] = _checked("from", self.sender)
        if self.reply_to is not None:
            given = [self.reply_to] if isinstance(self.reply_to, str) else self.reply_to
            found["reply_to"] = [_checked("reply_to", one) for one in given]
        return found


class NewBroadcast(ChangedBroadcast):
    """The body of POST /broadcasts."""

    sender: _Box = Field(alias="from")
    subject: _Subject
    send: bool = Field(default=False, strict=True)
    scheduled_at: StorableText | None = None


class SentBroadcast(StrictRequestModel):
    """The body of POST /broadcasts/{broadcast_id}/send."""

    broadcast_id: StorableText | None = None
    scheduled_at: StorableText | None = None


def _checked(field: str, text: str) -> str:
    try:
        parse_address(split_mailbox(text)[1])
    except InvalidAddress as exc:
        raise InvalidField(field, str(exc)) from None
    return mailbox(text)
