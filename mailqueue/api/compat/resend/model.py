"""Request bodies of Resend's API, and their conversion to mails. Values only."""

import base64
import binascii
import mimetypes
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from mailqueue.api.compat.accepting import CompatTemplateRequest
from mailqueue.api.compat.mailboxes import mailbox
from mailqueue.api.compat.option_fields import options_in, with_option_fields
from mailqueue.api.compat.resend.times import instant_of
from mailqueue.api.emails.schema import StorableObject, StorableText
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.sending.schema import AttachedFile, SendRequest, TemplateRequest
from mailqueue.core.errors import InvalidField
from mailqueue.core.mail_options import Api
from mailqueue.webhooks.formats.resend import TAGS

MAX_ADDRESSES = 50
MAX_TAG_CHARACTERS = 256
MAX_FILES = 50
MAX_WORDS = 20
MAX_WORD_CHARACTERS = 128
_TAG = re.compile(r"[A-Za-z0-9_-]*")


def _tag_text(tag: str) -> str:
    if len(tag) > MAX_TAG_CHARACTERS or not _TAG.fullmatch(tag):
        raise ValueError(
            "Tags should only contain ASCII letters, numbers, underscores, or dashes, "
            f"at most {MAX_TAG_CHARACTERS}"
        )
    return tag


TagText = Annotated[StorableText, AfterValidator(_tag_text)]
Boxes = StorableText | Annotated[list[StorableText], Field(max_length=MAX_ADDRESSES)]


class MissingField(InvalidField):
    """A required field is missing."""

    def __init__(self, field: str) -> None:
        super().__init__(field, f"Missing `{field}` field.")


class Tag(StrictRequestModel):
    """A tag: a name and its value for this mail."""

    name: Annotated[TagText, Field(min_length=1)]
    value: TagText = ""


class Octets(StrictRequestModel):
    """A Node Buffer as it is serialized to JSON."""

    type: Literal["Buffer"]
    data: list[int] | str


class ResendFile(StrictRequestModel):
    """A file in base64, or as a list of byte values, the JSON form of Python's and Node's
    buffers.
    """

    content: str | list[int] | Octets | None = None
    filename: StorableText | None = None
    path: StorableText | None = None
    content_type: StorableText | None = None
    content_id: StorableText | None = None
    inline_content_id: StorableText | None = None

    def attached(self) -> dict[str, str]:
        """Return the file in the form of POST /v1/send.

        Raises:
            InvalidField: it has no content or no name, or is given by URL.
        """
        if self.path is not None:
            why = "`path` is not supported: files are not fetched, send the content"
            raise InvalidField("attachments", why)
        if self.content is None:
            raise InvalidField("attachments", "Attachment must have either a `content` or `path`")
        if self.filename is None:
            raise InvalidField("attachments", "Attachment must have a `filename`")
        kind = self.content_type or mimetypes.guess_type(self.filename)[0]
        taken = {
            "filename": self.filename,
            "content": _base64(self.content),
            # Parameters such as a charset are left out: the bytes are sent unchanged.
            "content_type": (kind or "application/octet-stream").partition(";")[0].strip(),
        }
        shown = self.content_id or self.inline_content_id
        return taken if shown is None else taken | {"content_id": shown}


def _base64(content: str | list[int] | Octets) -> str:
    try:
        if isinstance(content, Octets):
            content = content.data
        if isinstance(content, str):
            base64.b64decode("".join(content.split()), validate=True)
            return content
        octets = bytes(content)
    except (ValueError, binascii.Error):
        why = "The `content` of an attachment must be base64, or a list of byte values"
        raise InvalidField("attachments", why) from None
    return base64.b64encode(octets).decode()


class ResendTemplate(StrictRequestModel):
    """One of our templates, by slug or id, optionally with @version."""

    id: StorableText
    variables: StorableObject = Field(default_factory=dict)


@with_option_fields(Api.RESEND)
class ResendEmail(StrictRequestModel):
    """The body of POST /emails."""

    sender: StorableText | None = Field(default=None, alias="from")
    to: Annotated[Boxes, Field(min_length=1)]
    subject: StorableText | None = None
    cc: Boxes | None = None
    bcc: Boxes | None = None
    reply_to: Boxes | None = None
    html: StorableText | None = None
    text: StorableText | None = None
    headers: dict[StorableText, StorableText] | None = None
    attachments: list[ResendFile] | None = None
    tags: list[Tag] | None = None
    scheduled_at: StorableText | None = None
    template: ResendTemplate | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, document: Any) -> Any:
        if isinstance(document, Mapping):
            return {name: value for name, value in document.items() if value is not None}
        return document

    def to_mail(self, now: datetime) -> SendRequest | TemplateRequest:
        """Return the mail to accept.

        Raises:
            InvalidField: an option is not supported.
        """
        if self.template is not None:
            return self._from_template(self.template, now)
        if self.sender is None:
            raise MissingField("from")
        if not self.subject:
            raise MissingField("subject")
        if not self.html and not self.text:
            raise MissingField("html` or `text")
        return SendRequest.model_construct(
            **self._shared(now),
            subject=self.subject,
            html_body=self.html,
            text_body=self.text,
        )

    def _from_template(self, template: ResendTemplate, now: datetime) -> TemplateRequest:
        for name in ("html", "text"):
            if getattr(self, name) is not None:
                raise InvalidField(name, "cannot be given together with a `template`")
        slug, _, version = template.id.partition("@")
        named: dict[str, Any] = {
            "template_slug": slug,
            "template_version": version or None,
            "variables": template.variables,
        }
        if self.subject:
            named["subject"] = self.subject
        return CompatTemplateRequest.model_construct(**named, **self._shared(now))

    def _shared(self, now: datetime) -> dict[str, Any]:
        answers = [mailbox(one) for one in _listed(self.reply_to)]
        if len(self.attachments or ()) > MAX_FILES:
            raise InvalidField("attachments", f"at most {MAX_FILES} files")
        at = None if self.scheduled_at is None else instant_of(self.scheduled_at, now)
        tags = [one.model_dump() for one in self.tags or ()]
        return {
            "from_email": None if self.sender is None else mailbox(self.sender),
            "to": [mailbox(one) for one in _listed(self.to)],
            "cc": [mailbox(one) for one in _listed(self.cc)],
            "bcc": [mailbox(one) for one in _listed(self.bcc)],
            "reply_to": ", ".join(answers) or None,
            "headers": self.headers or {},
            "attachments": [AttachedFile(**one.attached()) for one in self.attachments or ()],
            "tags": [tag_of(one) for one in self.tags or ()][:MAX_WORDS],
            "custom_data": {TAGS: tags} if tags else None,
            "scheduled_at": at,
            **options_in(Api.RESEND, self),
        }


def tag_of(tag: Tag) -> str:
    """Return the tag stored for the mail: `name:value`, shortened to the maximum length. Pure."""
    for word in (f"{tag.name}:{tag.value}" if tag.value else tag.name, tag.name):
        if len(word) <= MAX_WORD_CHARACTERS:
            return word
    return tag.name[:MAX_WORD_CHARACTERS]


def _listed(value: str | list[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else value
