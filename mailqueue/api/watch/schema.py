"""Request bodies and queries of watched inboxes."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.watch.inboxes import DEFAULT_SCAN_SECONDS

RowId = Annotated[UUID, Field(strict=False)]
AddressText = Annotated[StorableText, Field(min_length=3, max_length=320)]
PasswordText = Annotated[StorableText, Field(min_length=1, max_length=1000)]
TokenText = Annotated[StorableText, Field(min_length=1, max_length=400)]
FolderNames = Annotated[
    list[Annotated[StorableText, Field(min_length=1, max_length=200)]],
    Field(min_length=1, max_length=10),
]
PatternText = Annotated[StorableText, Field(min_length=1, max_length=512)]
SampleText = Annotated[StorableText, Field(max_length=998)]
SlackId = Annotated[StorableText, Field(min_length=2, max_length=31)]
SidText = Annotated[StorableText, Field(min_length=34, max_length=34)]
PhoneText = Annotated[StorableText, Field(min_length=8, max_length=16)]
SmallInteger = Annotated[int, Field(ge=-32768, le=32767)]
RuleTypeWord = Literal["sender", "subject"]
TlsWord = Literal["implicit", "starttls", "none"]
DeliveryStatusWord = Literal["pending", "batched", "sent", "delivered", "failed", "unknown"]


class OfUserQuery(PageQuery):
    """A page of what belongs to persons."""

    user_id: UUID | None = None
    """Filter by inbox user."""


class NotificationQuery(OfUserQuery):
    """Filters of a list of notifications."""

    delivery_status: DeliveryStatusWord | None = None
    """Filter by what became of them."""


class NewInboxUser(StrictRequestModel):
    """A person to add."""

    email: AddressText
    """Address of the person, unique in the project."""


class ChangeInboxUser(StrictRequestModel):
    """What changes of a person."""

    notifications_paused: bool
    """Whether the person is notified of nothing; mail of that time is not reported later."""


class NewInboxBody(StrictRequestModel):
    """An inbox to watch."""

    user_id: RowId
    """The person whose inbox it is."""
    email_address: AddressText
    """Address of the inbox."""
    provider: Literal["imap"] = "imap"
    """How it is read."""
    host: Annotated[StorableText, Field(min_length=1, max_length=255)]
    """Host of its IMAP server, which must have a public address."""
    port: Annotated[int, Field(ge=1, le=65535)] = 993
    """Port of its server."""
    tls: TlsWord = "implicit"
    """How the connection is secured; `none` only in a network that the operator allowed."""
    username: AddressText | None = None
    """Name that it is logged in with; the address if omitted."""
    password: PasswordText
    """Password, preferably one for this application alone. It is stored sealed and never shown."""
    folders: FolderNames = Field(default_factory=lambda: ["INBOX"])
    """Folders whose new mail is reported; not those of sent mail, drafts, spam and trash."""
    webmail_url: Annotated[StorableText, Field(max_length=508)] | None = None
    """Page that notifications link to, by HTTPS; `{message_id}` in it is replaced."""
    scan_seconds: Annotated[int, Field(ge=30, le=86400)] = DEFAULT_SCAN_SECONDS
    """Seconds between two scans."""


class NewInboxConsent(StrictRequestModel):
    """An inbox at Gmail to watch, once its owner consents."""

    user_id: RowId
    """The person whose inbox it is."""
    email_address: AddressText
    """Address of the inbox, which the owner has to choose at Google."""
    folders: FolderNames = Field(default_factory=lambda: ["INBOX"])
    """Ids of the labels whose new mail is reported, such as INBOX or Label_12; not SENT, DRAFT,
    SPAM and TRASH."""
    webmail_url: Annotated[StorableText, Field(max_length=508)] | None = None
    """Page that notifications link to, by HTTPS; the search of Gmail if omitted."""
    scan_seconds: Annotated[int, Field(ge=30, le=86400)] = DEFAULT_SCAN_SECONDS
    """Seconds between two scans."""


class ReconnectInbox(StrictRequestModel):
    """New credentials of an inbox."""

    password: PasswordText
    """The new password."""
    username: AddressText | None = None
    """The new name; as before if omitted."""


class PhoneConsent(StrictRequestModel):
    """The consent of a person to messages to their phone."""

    source: Annotated[StorableText, Field(min_length=1, max_length=200)]
    """Where the person consented, such as the address of a form."""
    wording: Annotated[StorableText, Field(min_length=1, max_length=1000)]
    """What the person agreed to."""
    given_at: Annotated[AwareDatetime | None, Field(strict=False)] = None
    """Time at which the person consented; now if omitted."""


class NewChannel(StrictRequestModel):
    """A channel to connect: in Slack, or a phone with WhatsApp."""

    user_id: RowId
    """The person who is notified."""
    channel_type: Literal["slack", "whatsapp"] = "slack"
    """Kind of the channel."""
    bot_token: TokenText | None = None
    """Token of the bot in Slack, `xoxb-…`, with the scope `chat:write`. It is stored sealed and
    never shown."""
    slack_channel_id: SlackId | None = None
    """Id of the channel or person in Slack, such as C0123456789."""
    workspace: SlackId | None = None
    """Team id in Slack, such as T0123456789: its channels then share a rate."""
    signing_secret: TokenText | None = None
    """Signing secret of the bot's app, with which notifications have buttons. It is stored sealed
    and never shown."""
    phone_number: PhoneText | None = None
    """Number of the person in WhatsApp, such as +15550000002."""
    twilio_sid: SidText | None = None
    """Account at Twilio, `AC…`."""
    auth_token: TokenText | None = None
    """Token of the account at Twilio. It is stored sealed and never shown."""
    sender_number: PhoneText | None = None
    """Number that messages are sent from, which Twilio knows as a sender of WhatsApp."""
    template_sid: SidText | None = None
    """Approved content template, `HX…`, whose variables are 1 the inbox, 2 the sender and 3 the
    subject."""
    consent: PhoneConsent | None = None
    """Consent of the person, without which nothing is sent to a phone."""


class ReconnectChannel(StrictRequestModel):
    """A new token of a channel."""

    bot_token: TokenText | None = None
    """The new token of the bot in Slack."""
    slack_channel_id: SlackId | None = None
    """Another channel or person in Slack; as before if omitted."""
    signing_secret: TokenText | None = None
    """Another signing secret of the bot's app; as before if omitted."""
    auth_token: TokenText | None = None
    """The new token of the account at Twilio."""
    template_sid: SidText | None = None
    """Another content template; as before if omitted."""


class InstallSlack(StrictRequestModel):
    """A person who installs the Slack app."""

    user_id: RowId
    """The person who is notified."""


class NewMutedSender(StrictRequestModel):
    """A sender to mute."""

    user_id: RowId
    """The person who is not notified."""
    sender_address: AddressText
    """Address of the sender."""


class NewFilterRule(StrictRequestModel):
    """A filter rule to add."""

    user_id: RowId
    """The person whose mail it filters."""
    rule_type: RuleTypeWord
    """What is compared: the sender or the subject."""
    pattern: PatternText
    """Address or domain of senders, or a word or phrase of the subject."""
    is_active: bool = True
    """Whether the rule is applied."""
    priority: SmallInteger = 0
    """Order of evaluation, the lowest first."""


class ChangeFilterRule(StrictRequestModel):
    """Fields of a filter rule to change; omitted fields are unchanged."""

    rule_type: RuleTypeWord | None = None
    """What is compared: the sender or the subject."""
    pattern: PatternText | None = None
    """Address or domain of senders, or a word or phrase of the subject."""
    is_active: bool | None = None
    """Whether the rule is applied."""
    priority: SmallInteger | None = None
    """Order of evaluation, the lowest first."""


class TryFilterRule(StrictRequestModel):
    """A pattern and a sample mail."""

    rule_type: RuleTypeWord
    """What is compared: the sender or the subject."""
    pattern: PatternText
    """Address or domain of senders, or a word or phrase of the subject."""
    sender_address: SampleText = ""
    """Sender of the sample."""
    subject: SampleText = ""
    """Subject of the sample."""


class RetryNotifications(StrictRequestModel):
    """Notifications to deliver again."""

    ids: Annotated[list[RowId], Field(min_length=1, max_length=1000)]
    """Ids of notifications that failed or whose outcome is unknown."""
