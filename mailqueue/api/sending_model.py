"""What callers send. Values only; mail's own rules are checked in SQL."""

from typing import Any, Literal

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
)

from mailqueue.api.model import JsonObject, Text, Whole
from mailqueue.mail.batches import MOST_RECIPIENTS


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AttachedFile(_Given):
    """A file: its octets in base64 with name and type, or the id of an upload.

    One with a `content_id` is shown by the HTML as `cid:…`.
    """

    id: Text | None = None
    filename: Text | None = None
    content: str | None = None
    content_type: Text | None = None
    content_id: Text | None = None


class SmtpOverride(_Given):
    """A server for this one mail. User name and password are neither stored nor logged."""

    provider_type: Literal["smtp"] = "smtp"
    host: Text
    port: Whole | None = None
    username: SecretStr | None = None
    password: SecretStr | None = None
    tls_mode: Literal["starttls", "implicit", "tls", "ssl", "none", "plain"] = Field(
        default="starttls", validation_alias=AliasChoices("tls_mode", "tls")
    )
    queue: bool = Field(
        default=False,
        description="Queue the mail, and keep the server sealed until it is sent or expires.",
    )


class _Mail(_Given):
    """What holds for one mail, and for many."""

    from_email: Text | None = None
    from_name: Text | None = None
    reply_to: Text | None = None
    priority: Text | Whole | None = None
    tags: list[Text] = Field(default_factory=list)
    headers: dict[Text, Text] = Field(default_factory=dict)
    attachments: list[AttachedFile] = Field(default_factory=list)
    campaign_id: Text | None = None
    scheduled_at: AwareDatetime | None = Field(
        default=None, validation_alias=AliasChoices("scheduled_at", "run_at")
    )
    expires_at: AwareDatetime | None = None
    category: Text | None = None
    delivery: Text | None = None
    smtp_config_id: Text | None = Field(
        default=None,
        validation_alias=AliasChoices("smtp_config_id", "sender"),
        description="Id or name of the sender account.",
    )
    max_attempts: Whole | None = None

    def options(self) -> dict[str, Any]:
        """Give what stands in the options of `mailqueue.enqueue`."""
        given: dict[str, Any] = {
            option: value
            for name, option in self._options()
            if (value := getattr(self, name)) not in (None, [], {})
        }
        if self.attachments:
            given["attachments"] = [one.model_dump(exclude_none=True) for one in self.attachments]
        return given

    @classmethod
    def _options(cls) -> tuple[tuple[str, str], ...]:
        return _OF_ALL


class _One(_Mail):
    """One mail, whatever it says."""

    to: list[Text] = Field(min_length=1)
    cc: list[Text] = Field(default_factory=list)
    bcc: list[Text] = Field(default_factory=list)
    custom_data: JsonObject | None = None
    idempotency_key: Text | None = None
    dry_run: bool = Field(
        default=False, description="Say what would become of it, and send nothing."
    )

    def options(self) -> dict[str, Any]:
        """Give what stands in the options of `mailqueue.enqueue`."""
        given = super().options()
        if len(self.to) > 1:
            given["to"] = self.to[1:]
        return given

    @classmethod
    def _options(cls) -> tuple[tuple[str, str], ...]:
        return _OF_ONE


class SendRequest(_One):
    """The body of POST /v1/send."""

    subject: Text
    html_body: Text | None = None
    text_body: Text | None = None
    smtp_override: SmtpOverride | None = Field(
        default=None,
        description="Send it by this server, while you wait: 200 says what became of it.",
    )

    @property
    def is_plain(self) -> bool:
        """Say whether it can be accepted together with others."""
        return not (self.attachments or self.dry_run or self.smtp_override or self.smtp_config_id)


class BatchRecipient(_Given):
    """One of many recipients."""

    email: Text
    name: Text | None = None
    custom_data: JsonObject | None = None
    tags: list[Text] | None = None


class _Many(_Mail):
    mode: Literal["permissive", "strict"] = Field(
        default="permissive",
        description="strict: where one recipient is refused, nobody is written to.",
    )


class BatchRequest(_Many):
    """The body of POST /v1/send/batch: the same for everybody."""

    subject: Text
    html_body: Text | None = None
    text_body: Text | None = None
    recipients: list[BatchRecipient] = Field(min_length=1, max_length=MOST_RECIPIENTS)


class _OfTemplate(_Given):
    template_slug: Text
    template_version: Text | Whole | None = Field(
        default=None, description="A number, or published (or latest-published): the default."
    )
    language: Text | None = None

    @property
    def template(self) -> str:
        """Name the template and its version as the rules of mail do."""
        if self.template_version is None:
            return self.template_slug
        return f"{self.template_slug}@{self.template_version}"


class TemplateRequest(_OfTemplate, _One):
    """The body of POST /v1/send/template."""

    variables: JsonObject = Field(default_factory=dict)
    smtp_override: SmtpOverride | None = None

    def options(self) -> dict[str, Any]:
        """Give what stands in the options of `mailqueue.enqueue`."""
        named = {"template": self.template, "variables": self.variables}
        spoken = {} if self.language is None else {"language": self.language}
        return super().options() | named | spoken


class TemplateRecipient(BatchRecipient):
    """One of many recipients, and what is said to it alone."""

    variables: JsonObject = Field(default_factory=dict)
    language: Text | None = None


class TemplateBatchRequest(_OfTemplate, _Many):
    """The body of POST /v1/send/template/batch."""

    variables: JsonObject = Field(
        default_factory=dict, description="For everybody; a recipient's own come before these."
    )
    recipients: list[TemplateRecipient] = Field(min_length=1, max_length=MOST_RECIPIENTS)


_OF_ALL = (
    ("from_email", "from_email"),
    ("from_name", "from_name"),
    ("reply_to", "reply_to"),
    ("priority", "priority"),
    ("tags", "tags"),
    ("headers", "headers"),
    ("campaign_id", "campaign_id"),
    ("scheduled_at", "run_at"),
    ("expires_at", "expires_at"),
    ("category", "category"),
    ("delivery", "delivery"),
    ("smtp_config_id", "sender"),
    ("max_attempts", "max_attempts"),
)
_OF_ONE = (
    *_OF_ALL,
    ("cc", "cc"),
    ("bcc", "bcc"),
    ("custom_data", "custom_data"),
    ("idempotency_key", "idempotency_key"),
)
