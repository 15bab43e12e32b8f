"""Request bodies of sending. Values only; the rules of emails are checked in SQL."""

from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
)

from mailqueue.api.emails.schema import StorableObject, StorableText, Whole
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.sending.option_fields import options_by_field, with_option_fields
from mailqueue.mail.accept.batches import MAX_RECIPIENTS


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Mailboxes = Annotated[
    list[StorableText],
    BeforeValidator(_listed, json_schema_input_type=list[StorableText] | StorableText),
]
"""A list of mailboxes, or one as a string."""


def _id_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


SenderId = Annotated[
    StorableText, BeforeValidator(_id_text, json_schema_input_type=StorableText | int)
]
"""Id or name of a sender account, or its number."""


class AttachedFile(StrictRequestModel):
    """An attachment: content in base64 with name and type, or the id of an upload.

    The HTML shows one with a `content_id` as `cid:…`.
    """

    id: StorableText | None = None
    """Id of an upload, which has content and type."""
    filename: StorableText | None = None
    """Name that recipients see, such as `bill.pdf`; required unless `id` is given."""
    content: str | None = None
    """Content in base64; required unless `id` is given."""
    content_type: StorableText | None = None
    """Content type, such as `application/pdf`; required unless `id` is given."""
    content_id: StorableText | None = None
    """Content id, such as `logo`; the HTML shows the image as `cid:logo`."""


class SmtpOverride(StrictRequestModel):
    """An SMTP server for this email only. User name and password are neither stored nor logged."""

    provider_type: Literal["smtp"] = "smtp"
    """Kind of server; always `smtp`."""
    host: StorableText
    """Host name of the SMTP server, such as `smtp.example.org`."""
    port: Whole | None = None
    """Port; if omitted, 587 for `starttls`, 465 for `implicit` and 25 for `none`."""
    username: SecretStr | None = None
    """User name; no login if omitted."""
    password: SecretStr | None = None
    """Password."""
    tls_mode: Literal["starttls", "implicit", "tls", "ssl", "none", "plain"] = Field(
        default="starttls", validation_alias=AliasChoices("tls_mode", "tls")
    )
    """`starttls` after connecting, `implicit` (or `tls`, `ssl`) from the start, or `none` (or
    `plain`).
    """
    queue: bool = False
    """Queue the email and store the server encrypted until the email is sent or expires; otherwise
    the email is sent during the request.
    """


@with_option_fields(of_one=False)
class _Mail(StrictRequestModel):
    """Fields of every email and batch."""

    category: StorableText | None = None
    """`transactional`, `marketing` or a lower-case word of your own; decides which unsubscribes
    apply. `transactional` if omitted.
    """
    attachments: list[AttachedFile] = Field(default_factory=list)
    """Attachments: PDF, GIF, JPEG, PNG and WebP, 4 MiB in total, unless the project allows
    others.
    """
    smtp_config_id: SenderId | None = Field(
        default=None,
        validation_alias=AliasChoices("smtp_config_id", "sender"),
    )
    """Id or name of the sender account, or the number that earlier versions answered as its id; if
    omitted, the project's accounts by routing and priority.
    """

    def options(self) -> dict[str, Any]:
        """Return the options of `mailqueue.enqueue`."""
        given: dict[str, Any] = {
            option: value
            for name, option in options_by_field(type(self)).items()
            if (value := getattr(self, name)) not in (None, [], {})
        }
        if self.attachments:
            given["attachments"] = [one.model_dump(exclude_none=True) for one in self.attachments]
        return given


class BatchSmtpOverride(SmtpOverride):
    """An SMTP server for this batch only, stored encrypted with each email until it is sent or
    expires.
    """

    queue: Literal[True] = True
    """Always true: a batch is queued."""


class _Addressed(StrictRequestModel):
    """Recipients of one email."""

    to: Annotated[Mailboxes, Field(min_length=1)]
    """Recipients in To, such as `["Ann <ann@example.com>"]`, or one as a string. At most 50 with
    `cc` and `bcc`; or alone the name of a list of contacts.
    """
    cc: Mailboxes = Field(default_factory=list)
    """Recipients in Cc, a list or one as a string."""
    bcc: Mailboxes = Field(default_factory=list)
    """Recipients in Bcc, a list or one as a string."""


@with_option_fields(of_one=True)
class _One(_Mail, _Addressed):
    """Fields of one email, apart from its content."""

    idempotency_key: StorableText | None = None
    """1 to 255 characters: a repeated request with the same key and content sends nothing. Same as
    the header `Idempotency-Key`.
    """
    dry_run: bool = False
    """Report the result, and send nothing."""

    def options(self) -> dict[str, Any]:
        """Return the options of `mailqueue.enqueue`."""
        given = super().options()
        if len(self.to) > 1:
            given["to"] = self.to[1:]
        return given


class _Words(StrictRequestModel):
    """Content of an email without a template."""

    subject: StorableText
    """Subject, 1 to 998 characters."""
    html_body: StorableText | None = Field(
        default=None, validation_alias=AliasChoices("html_body", "html")
    )
    """HTML body; this or `text_body` is required, both are recommended."""
    text_body: StorableText | None = Field(
        default=None, validation_alias=AliasChoices("text_body", "text")
    )
    """Plain text body, for programs that show no HTML."""


class SendRequest(_One, _Words):
    """The body of POST /v1/send."""

    smtp_override: SmtpOverride | None = None
    """Send the email by this server during the request; the response 200 has the result."""

    @property
    def is_plain(self) -> bool:
        """Return whether it can share a commit with other requests."""
        return not (self.attachments or self.dry_run or self.smtp_override or self.smtp_config_id)


class BatchRecipient(StrictRequestModel):
    """One recipient of a batch."""

    email: StorableText
    """Address, such as `ann@example.com`, or the name of a list of contacts."""
    name: StorableText | None = None
    """Name beside the address; not with a list."""
    custom_data: StorableObject | None = None
    """A JSON object stored with this email, up to 64 KiB."""
    tags: list[StorableText] | None = None
    """Tags of this email, in place of the request's: at most 20."""


class _Many(_Mail):
    cc: Mailboxes = Field(default_factory=list)
    """Recipients in Cc of every email; the response has a warning, as each recipient sees them."""
    bcc: Mailboxes = Field(default_factory=list)
    """Recipients in Bcc of every email; the response has a warning."""
    smtp_override: BatchSmtpOverride | None = None
    """Send the emails of the batch by this server; it is stored encrypted until then."""
    mode: Literal["permissive", "strict"] = "permissive"
    """`strict`: if one recipient is refused, nothing is sent; `permissive`: the others are sent."""


class BatchRequest(_Many, _Words):
    """The body of POST /v1/send/batch: the same content for every recipient."""

    recipients: list[BatchRecipient] = Field(min_length=1, max_length=MAX_RECIPIENTS)
    """Recipients; each gets an email of its own."""


class _OfTemplate(StrictRequestModel):
    template_slug: StorableText
    """Slug of the template, such as `welcome`."""
    template_version: StorableText | Whole | None = None
    """Version number, or `published` (or `latest-published`), the default."""
    language: StorableText | None = None
    """Language, such as `de` or `pt-br`; the template's own if omitted."""

    @property
    def template(self) -> str:
        """Return the template and its version in the form of SQL's option."""
        if self.template_version is None:
            return self.template_slug
        return f"{self.template_slug}@{self.template_version}"


class TemplateRequest(_OfTemplate, _One):
    """The body of POST /v1/send/template."""

    variables: StorableObject = Field(default_factory=dict)
    """Values by name of variable, such as `{"name": "Ann"}`."""
    smtp_override: SmtpOverride | None = None
    """Send the email by this server during the request; the response 200 has the result."""

    def options(self) -> dict[str, Any]:
        """Return the options of `mailqueue.enqueue`."""
        named = {"template": self.template, "variables": self.variables}
        spoken = {} if self.language is None else {"language": self.language}
        return super().options() | named | spoken


class TemplateRecipient(BatchRecipient):
    """One recipient of a batch, and its own values."""

    variables: StorableObject = Field(default_factory=dict)
    """Values for this recipient; they override those of the request."""
    language: StorableText | None = None
    """Language of this recipient; the request's if omitted."""


class TemplateBatchRequest(_OfTemplate, _Many):
    """The body of POST /v1/send/template/batch."""

    variables: StorableObject = Field(default_factory=dict)
    """Values for every recipient; a recipient's own override them."""
    recipients: list[TemplateRecipient] = Field(min_length=1, max_length=MAX_RECIPIENTS)
    """Recipients; each gets an email of its own, with its variables."""
