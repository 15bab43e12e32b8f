"""What callers send. Values only; mail's own rules are checked in SQL."""

from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
)

from mailqueue.api.emails.schema import JsonObject, Text, Whole
from mailqueue.api.http.schema_base import StrictlyGiven
from mailqueue.api.sending.option_fields import options_by_field, with_option_fields
from mailqueue.mail.accept.batches import MAX_RECIPIENTS


def _listed(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Mailboxes = Annotated[
    list[Text], BeforeValidator(_listed, json_schema_input_type=list[Text] | Text)
]
"""A list, or one as a string."""


class AttachedFile(StrictlyGiven):
    """A file: its octets in base64 with name and type, or the id of an upload.

    One with a `content_id` is shown by the HTML as `cid:…`.
    """

    id: Text | None = None
    """Id of an upload, which has content and type already."""
    filename: Text | None = None
    """Name that recipients see, such as `bill.pdf`; needed unless `id` is given."""
    content: str | None = None
    """The file itself in base64; needed unless `id` is given."""
    content_type: Text | None = None
    """Its type, such as `application/pdf`; needed unless `id` is given."""
    content_id: Text | None = None
    """Name, such as `logo`, by which the HTML shows it: as the image `cid:logo`."""


class SmtpOverride(StrictlyGiven):
    """A server for this one mail. User name and password are neither stored nor logged."""

    provider_type: Literal["smtp"] = "smtp"
    """The only kind of server there is here."""
    host: Text
    """Name of the SMTP server, such as `smtp.example.org`."""
    port: Whole | None = None
    """Its port; if left out, 587 for `starttls`, 465 for `implicit` and 25 for `none`."""
    username: SecretStr | None = None
    """Name to log in by; no login if left out."""
    password: SecretStr | None = None
    """Password of that name."""
    tls_mode: Literal["starttls", "implicit", "tls", "ssl", "none", "plain"] = Field(
        default="starttls", validation_alias=AliasChoices("tls_mode", "tls")
    )
    """`starttls` after connecting, `implicit` (or `tls`, `ssl`) from the start, or `none` (or
    `plain`).
    """
    queue: bool = False
    """Queue the mail, and keep the server sealed until it is sent or expires; else send it
    while you wait.
    """


@with_option_fields(of_one=False)
class _Mail(StrictlyGiven):
    """What holds for one mail, and for many."""

    category: Text | None = None
    """`transactional`, `marketing` or a lower-case word of yours: decides which unsubscribes
    count. `transactional` if left out.
    """
    attachments: list[AttachedFile] = Field(default_factory=list)
    """PDF, GIF, JPEG, PNG and WebP up to 4 MiB together, unless the project allows others."""
    smtp_config_id: Text | None = Field(
        default=None,
        validation_alias=AliasChoices("smtp_config_id", "sender"),
    )
    """Id or name of the sender account that sends it; the project's accounts in their order if
    left out.
    """

    def options(self) -> dict[str, Any]:
        """Return what stands in the options of `mailqueue.enqueue`."""
        given: dict[str, Any] = {
            option: value
            for name, option in options_by_field(type(self)).items()
            if (value := getattr(self, name)) not in (None, [], {})
        }
        if self.attachments:
            given["attachments"] = [one.model_dump(exclude_none=True) for one in self.attachments]
        return given


class _Addressed(StrictlyGiven):
    """Whom one mail goes to."""

    to: Annotated[Mailboxes, Field(min_length=1)]
    """Recipients in To, such as `["Ann <ann@example.com>"]`, or one as a string. 50 at most
    with `cc` and `bcc`.
    """
    cc: Mailboxes = Field(default_factory=list)
    """Recipients in Cc, a list or one as a string."""
    bcc: Mailboxes = Field(default_factory=list)
    """Recipients whom no other sees, a list or one as a string."""


@with_option_fields(of_one=True)
class _One(_Mail, _Addressed):
    """One mail, whatever it says."""

    idempotency_key: Text | None = None
    """1 to 255 characters: the same key and content again send nothing again. As the header
    `Idempotency-Key`.
    """
    dry_run: bool = False
    """Report what would happen, and send nothing."""

    def options(self) -> dict[str, Any]:
        """Return what stands in the options of `mailqueue.enqueue`."""
        given = super().options()
        if len(self.to) > 1:
            given["to"] = self.to[1:]
        return given


class _Words(StrictlyGiven):
    """What a mail without a template says."""

    subject: Text
    """At most 998 characters, and not empty."""
    html_body: Text | None = Field(default=None, validation_alias=AliasChoices("html_body", "html"))
    """The mail as HTML; either this or `text_body` is needed, and both are best."""
    text_body: Text | None = Field(default=None, validation_alias=AliasChoices("text_body", "text"))
    """The mail as plain text, for programs that show no HTML."""


class SendRequest(_One, _Words):
    """The body of POST /v1/send."""

    smtp_override: SmtpOverride | None = None
    """Send it by this server, while you wait: 200 says what became of it."""

    @property
    def is_plain(self) -> bool:
        """Return whether it can be accepted together with others."""
        return not (self.attachments or self.dry_run or self.smtp_override or self.smtp_config_id)


class BatchRecipient(StrictlyGiven):
    """One of many recipients."""

    email: Text
    """Address, such as `ann@example.com`."""
    name: Text | None = None
    """Name beside the address."""
    custom_data: JsonObject | None = None
    """An object of yours that is kept with this mail: up to 64 KiB."""
    tags: list[Text] | None = None
    """Words to find this mail by, in place of the call's: at most 20."""


class _Many(_Mail):
    mode: Literal["permissive", "strict"] = "permissive"
    """`strict`: where one recipient is refused, nobody is written to; `permissive`: the others
    are.
    """


class BatchRequest(_Many, _Words):
    """The body of POST /v1/send/batch: the same for everybody."""

    recipients: list[BatchRecipient] = Field(min_length=1, max_length=MAX_RECIPIENTS)
    """Whom to write to, each by itself."""


class _OfTemplate(StrictlyGiven):
    template_slug: Text
    """Name of the template, such as `welcome`."""
    template_version: Text | Whole | None = None
    """A number, or `published` (or `latest-published`): the default."""
    language: Text | None = None
    """Language, such as `de` or `pt-br`; the template's own if left out."""

    @property
    def template(self) -> str:
        """Name the template and its version as the rules of mail do."""
        if self.template_version is None:
            return self.template_slug
        return f"{self.template_slug}@{self.template_version}"


class TemplateRequest(_OfTemplate, _One):
    """The body of POST /v1/send/template."""

    variables: JsonObject = Field(default_factory=dict)
    """Values by name of variable, such as `{"name": "Ann"}`."""
    smtp_override: SmtpOverride | None = None
    """Send it by this server, while you wait: 200 says what became of it."""

    def options(self) -> dict[str, Any]:
        """Return what stands in the options of `mailqueue.enqueue`."""
        named = {"template": self.template, "variables": self.variables}
        spoken = {} if self.language is None else {"language": self.language}
        return super().options() | named | spoken


class TemplateRecipient(BatchRecipient):
    """One of many recipients, and what is said to it alone."""

    variables: JsonObject = Field(default_factory=dict)
    """Values for this recipient, on top of those of the call."""
    language: Text | None = None
    """Language of this recipient; the call's if left out."""


class TemplateBatchRequest(_OfTemplate, _Many):
    """The body of POST /v1/send/template/batch."""

    variables: JsonObject = Field(default_factory=dict)
    """Values for everybody; a recipient's own come before these."""
    recipients: list[TemplateRecipient] = Field(min_length=1, max_length=MAX_RECIPIENTS)
    """Whom to write to, each by itself and with variables of its own."""
