"""Request bodies of Postmark's API, and their conversion to mails. Values only."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.alias_generators import to_pascal

from mailqueue.api.compat.accepting import CompatTemplateRequest
from mailqueue.api.compat.mailboxes import format_mailbox, split_mailbox, split_mailboxes
from mailqueue.api.compat.option_fields import options_in, with_option_fields
from mailqueue.api.emails.schema import StorableObject, StorableText, Whole
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.sending.schema import AttachedFile, SendRequest, TemplateRequest
from mailqueue.core.address import INPUT_CHARACTERS, InvalidAddress, Reason, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.core.mail_options import Api
from mailqueue.webhooks.formats.postmark import METADATA

MAX_RECIPIENTS = 50
MAX_BODY_BYTES = 5 * 1024 * 1024
MAX_TAG_CHARACTERS = 128
MAX_METADATA = 10
STREAMS = {"outbound": None, "broadcast": "marketing"}
"""Postmark's standard streams and our categories for them; other streams are categories by name."""
_STREAM = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_DOMAIN_FAULTS = (Reason.BAD_DOMAIN, Reason.NO_DOT, Reason.IP_LITERAL)


class NotAnAddress(InvalidField):
    """A field is not an address; the text is Postmark's, because clients parse it."""

    def __init__(self, field: str, address: str, reason: Reason) -> None:
        if reason in _DOMAIN_FAULTS and field != "From":
            domain = address.rpartition("@")[2]
            why = f"Illegal email domain '{domain}' in address '{address}'."
            super().__init__(field, f"Error parsing '{field}': {why}")
        else:
            super().__init__(field, f"Invalid '{field}' address: '{address}'.")


class NoStream(InvalidField):
    """The message stream does not exist or does not send."""


class NotForSending(NoStream):
    """The stream receives only."""


class _PascalModel(StrictRequestModel):
    model_config = ConfigDict(alias_generator=to_pascal)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, document: Any) -> Any:
        if isinstance(document, Mapping):
            return {name: value for name, value in document.items() if value is not None}
        return document


class Header(_PascalModel):
    """A header field."""

    name: StorableText
    value: StorableText


class PostmarkFile(_PascalModel):
    """A file in base64; the HTML shows one with a ContentID."""

    name: StorableText
    content: str
    content_type: StorableText = "application/octet-stream"
    content_id: StorableText | None = Field(default=None, alias="ContentID")

    def attached(self) -> AttachedFile:
        """Return the file in the form of POST /v1/send."""
        shown = self.content_id
        return AttachedFile.model_construct(
            filename=self.name,
            content=self.content,
            # Parameters such as a charset are left out: the bytes are sent unchanged.
            content_type=self.content_type.partition(";")[0].strip(),
            content_id=None if not shown else shown.strip("<>").removeprefix("cid:"),
        )


@with_option_fields(Api.POSTMARK)
class _Message(_PascalModel):
    """Fields of every message."""

    sender: StorableText = Field(alias="From")
    to: StorableText = ""
    cc: StorableText = ""
    bcc: StorableText = ""
    reply_to: StorableText = ""
    tag: StorableText = ""
    headers: list[Header] = Field(default_factory=list)
    metadata: dict[StorableText, StorableText | int | float | bool] = Field(default_factory=dict)
    attachments: list[PostmarkFile] = Field(default_factory=list)
    message_stream: StorableText = "outbound"
    track_links: Literal["None", "HtmlAndText", "HtmlOnly", "TextOnly"] | None = None

    @property
    def addresses(self) -> list[str]:
        """Return the addresses of all recipients."""
        boxes = (box for each in (self.to, self.cc, self.bcc) for box in split_mailboxes(each))
        return [split_mailbox(box)[1] for box in boxes]

    @property
    def is_to_several(self) -> bool:
        """Return whether it may have more than one recipient."""
        return bool(self.cc or self.bcc or "," in self.to)

    def _shared(self) -> dict[str, Any]:
        to, cc, bcc = (_boxes(name, getattr(self, name.lower())) for name in ("To", "Cc", "Bcc"))
        if not to:
            raise InvalidField("To", "Provide at least one recipient in 'To'.")
        if len(to) + len(cc) + len(bcc) > MAX_RECIPIENTS:
            why = f"Maximum of {MAX_RECIPIENTS} recipients allowed per email message."
            raise InvalidField("To", why)
        if len(self.tag) > MAX_TAG_CHARACTERS:
            raise InvalidField("Tag", f"'Tag' may have at most {MAX_TAG_CHARACTERS} characters.")
        answers = _boxes("ReplyTo", self.reply_to)
        senders = _boxes("From", self.sender)
        if len(senders) != 1:
            raise InvalidField("From", "Provide one address in 'From'.")
        return {
            "from_email": senders[0],
            "to": to,
            "cc": cc,
            "bcc": bcc,
            "reply_to": ", ".join(answers) or None,
            "headers": _by_name(self.headers),
            "tags": [self.tag] if self.tag else [],
            "attachments": [one.attached() for one in self.attachments],
            "custom_data": _checked(self.metadata),
            "category": category_of(self.message_stream),
            **self._tracked(),
        }

    def _tracked(self) -> dict[str, Any]:
        tracked = options_in(Api.POSTMARK, self)
        if self.track_links == "TextOnly":
            raise InvalidField("TrackLinks", "'TrackLinks': links in text are not tracked.")
        if self.track_links is not None:
            tracked["track_clicks"] = self.track_links != "None"
        return tracked


class PostmarkMessage(_Message):
    """The body of POST /email."""

    subject: StorableText = ""
    html_body: StorableText = ""
    text_body: StorableText = ""

    def to_mail(self) -> SendRequest:
        """Return the mail to accept.

        Raises:
            InvalidField: an option is not supported.
        """
        if not self.html_body and not self.text_body:
            why = "Provide either email TextBody or HtmlBody or both."
            raise InvalidField("HtmlBody", why)
        if not self.html_body and self.track_links in ("HtmlOnly", "HtmlAndText"):
            raise InvalidField("TrackLinks", "'TrackLinks': links in text are not tracked.")
        for name, body in (("HtmlBody", self.html_body), ("TextBody", self.text_body)):
            if len(body.encode()) > MAX_BODY_BYTES:
                raise InvalidField(name, f"'{name}' may have at most 5 MB.")
        return SendRequest.model_construct(
            **self._shared(),
            subject=self.subject,
            html_body=self.html_body or None,
            text_body=self.text_body or None,
        )


class BulkMessage(PostmarkMessage):
    """A message of POST /email/bulk without a stored template: its texts are one themselves."""

    template_model: StorableObject = Field(default_factory=dict)


class TemplatedMessage(_Message):
    """The body of POST /email/withTemplate; id and alias are both the slug of a template here."""

    template_id: Whole | StorableText | None = None
    template_alias: StorableText | None = None
    template_model: StorableObject
    inline_css: bool | None = None

    def to_mail(self) -> TemplateRequest:
        """Return the mail to accept.

        Raises:
            InvalidField: an option is not supported.
        """
        if (self.template_id is None) == (self.template_alias is None):
            why = "Provide either 'TemplateId' or 'TemplateAlias'."
            raise InvalidField("TemplateId", why)
        named = self.template_alias if self.template_id is None else str(self.template_id)
        slug, _, version = (named or "").partition("@")
        return CompatTemplateRequest.model_construct(
            template_slug=slug,
            template_version=version or None,
            variables=self.template_model,
            inline_css=self.inline_css,
            **self._shared(),
        )


def category_of(stream: str) -> str | None:
    """Return our category for mail of a stream. Pure.

    Raises:
        NoStream: there is no such stream, or it does not send.
    """
    if stream in STREAMS:
        return STREAMS[stream]
    if stream == "inbound":
        raise NotForSending("MessageStream", "is not for sending")
    if not _STREAM.fullmatch(stream):
        raise NoStream("MessageStream", f"{stream[:100]!r} does not exist")
    return stream


def _boxes(field: str, mailboxes: str) -> list[str]:
    if len(mailboxes) > MAX_RECIPIENTS * INPUT_CHARACTERS:
        raise InvalidField(field, f"'{field}' is too long.")
    boxes = []
    for text in split_mailboxes(mailboxes):
        name, address = split_mailbox(text)
        try:
            parse_address(address)
        except InvalidAddress as exc:
            raise NotAnAddress(field, address[:300], exc.reason) from None
        boxes.append(format_mailbox(name, address))
    return boxes


def _by_name(headers: Sequence[Header]) -> dict[str, str]:
    found = {one.name: one.value for one in headers}
    if len({name.lower() for name in found}) < len(headers):
        raise InvalidField("Headers", "repeated headers are not supported")
    return found


def _checked(metadata: Mapping[str, object]) -> dict[str, Any] | None:
    if len(metadata) > MAX_METADATA:
        why = f"Invalid metadata content. At most {MAX_METADATA} pairs are allowed."
        raise InvalidField("Metadata", why)
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in metadata.items()
    }
    return {METADATA: texts} if texts else None
