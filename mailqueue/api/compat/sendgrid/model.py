"""Request bodies of SendGrid's API. Values only."""

from typing import Annotated, Any

from pydantic import Field

from mailqueue.api.compat.option_fields import with_option_fields
from mailqueue.api.emails.schema import StorableObject, StorableText, Whole
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.mail_options import Api

MAX_PERSONALIZATIONS = 1_000
MAX_RECIPIENTS = 1_000

NonEmpty = Annotated[StorableText, Field(min_length=1)]


class Box(StrictRequestModel):
    """A mailbox."""

    email: StorableText
    name: StorableText | None = None


class Personalization(StrictRequestModel):
    """One mail: its recipients and their own values."""

    to: Annotated[list[Box], Field(min_length=1)]
    cc: list[Box] = Field(default_factory=list)
    bcc: list[Box] = Field(default_factory=list)
    sender: Box | None = Field(default=None, alias="from")
    subject: StorableText | None = None
    headers: dict[StorableText, StorableText] = Field(default_factory=dict)
    substitutions: dict[NonEmpty, StorableText | None] = Field(default_factory=dict)
    dynamic_template_data: StorableObject = Field(default_factory=dict)
    custom_args: dict[StorableText, StorableText] = Field(default_factory=dict)
    send_at: Whole | None = None


class ContentPart(StrictRequestModel):
    """Content of the mail in one type."""

    type: NonEmpty
    value: NonEmpty


class SendGridFile(StrictRequestModel):
    """A file in base64; an inline one is shown by its `content_id`."""

    content: NonEmpty
    filename: NonEmpty
    type: StorableText | None = None
    disposition: StorableText | None = None
    content_id: StorableText | None = None
    name: StorableText | None = None


class Asm(StrictRequestModel):
    """The unsubscribe group."""

    group_id: Whole
    groups_to_display: list[Whole] = Field(default_factory=list)


MailSetting = dict[str, Any]


class MailSettings(StrictRequestModel):
    """Mail settings, each with `enable`."""

    bcc: MailSetting | None = None
    bypass_bounce_management: MailSetting | None = None
    bypass_list_management: MailSetting | None = None
    bypass_spam_management: MailSetting | None = None
    bypass_unsubscribe_management: MailSetting | None = None
    footer: MailSetting | None = None
    sandbox_mode: MailSetting | None = None
    spam_check: MailSetting | None = None


class SendGridTracking(StrictRequestModel):
    """Tracking settings, each with `enable`."""

    click_tracking: MailSetting | None = None
    open_tracking: MailSetting | None = None
    subscription_tracking: MailSetting | None = None
    ganalytics: MailSetting | None = None


@with_option_fields(Api.SENDGRID)
class SendGridMail(StrictRequestModel):
    """The body of POST /v3/mail/send."""

    personalizations: Annotated[
        list[Personalization], Field(min_length=1, max_length=MAX_PERSONALIZATIONS)
    ]
    sender: Box = Field(alias="from")
    reply_to: Box | None = None
    reply_to_list: list[Box] | None = None
    subject: StorableText | None = None
    content: list[ContentPart] = Field(default_factory=list)
    attachments: list[SendGridFile] = Field(default_factory=list)
    template_id: StorableText | None = None
    sections: dict[NonEmpty, StorableText] = Field(default_factory=dict)
    headers: dict[StorableText, StorableText] = Field(default_factory=dict)
    categories: list[StorableText] = Field(default_factory=list)
    custom_args: dict[StorableText, StorableText] = Field(default_factory=dict)
    send_at: Whole | None = None
    asm: Asm | None = None
    mail_settings: MailSettings = Field(default_factory=MailSettings)
    tracking_settings: SendGridTracking = Field(default_factory=SendGridTracking)

    @property
    def is_sandboxed(self) -> bool:
        """Return whether the mail is only validated."""
        return is_on(self.mail_settings.sandbox_mode)


def is_on(setting: MailSetting | None) -> bool:
    """Return whether a setting is enabled. Pure."""
    return setting is not None and setting.get("enable") is True
