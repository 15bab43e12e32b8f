"""Credentials by kind of provider."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SecretStr, ValidationError

from mailqueue.api.http.responses import Violations, invalid_request
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.core.providers import NAMES_FOR_ACCOUNTS, Provider
from mailqueue.core.secret import Secret
from mailqueue.senders.model import NewSender, Tls

_TLS_BY_MODE: Mapping[str, Tls] = {
    "none": Tls.NONE,
    "plain": Tls.NONE,
    "starttls": Tls.STARTTLS,
    "implicit": Tls.IMPLICIT,
    "tls": Tls.IMPLICIT,
}
_EU_MAILGUN = "https://api.eu.mailgun.net"

ShortText = Annotated[str, Field(min_length=1, max_length=998)]
SecretInput = Annotated[SecretStr, Field(min_length=1, max_length=4096)]


class _Credentials(RequestModel):
    model_config = ConfigDict(hide_input_in_errors=True)


class SmtpCredentials(_Credentials):
    """An SMTP server; with `grant` in place of a password it logs in by XOAUTH2."""

    host: ShortText
    """Host name of the SMTP server, such as `smtp.example.com`; required for SMTP."""
    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """Port; if omitted, 587 for `starttls`, 465 for `implicit` and 25 for `none`."""
    tls_mode: Literal["starttls", "implicit", "tls", "none", "plain"] = "starttls"
    """`starttls` after connecting, `implicit` (or `tls`) from the start, or `none` (or `plain`)."""
    username: ShortText | None = None
    """User name; no login if omitted."""
    password: SecretInput | None = None
    """Password."""
    grant: dict[str, Any] | None = None
    """OAuth credentials in place of a password, for XOAUTH2: key file of a service account, or a
    refresh token with its client.
    """
    token_url: ShortText | None = None
    """OAuth token endpoint, if not the provider's default."""


class _ApiCredentials(_Credentials):
    api_url: ShortText | None = None
    """Base URL of the provider's API, if not the default, such as that of a region."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Further settings of the provider; `extra` is an object of fields added to each request."""


class SesCredentials(_ApiCredentials):
    """Amazon SES."""

    region: ShortText = "us-east-1"
    """AWS region, such as `eu-west-1`."""
    access_key_id: ShortText
    """Id of the access key; required for Amazon SES."""
    secret_access_key: SecretInput
    """Secret access key; required for Amazon SES."""
    session_token: SecretInput | None = None
    """Session token, for temporary credentials."""
    configuration_set: ShortText | None = None
    """Configuration set of Amazon SES to send with."""


class KeyCredentials(_ApiCredentials):
    """Providers without fields of their own, such as SendGrid, Resend and SMTP2GO."""

    api_key: SecretInput
    """API key of the provider; required for SendGrid, Resend, SMTP2GO, Mailgun and others."""


class LoginCredentials(KeyCredentials):
    """Providers whose key has a user name."""

    username: ShortText
    """User name of the key."""


class MailgunCredentials(KeyCredentials):
    """Mailgun."""

    domain: ShortText
    """Sending domain at Mailgun; required for Mailgun."""
    region: Literal["us", "eu"] = "us"
    """Region of Mailgun."""


class PostmarkCredentials(_ApiCredentials):
    """Postmark."""

    server_token: SecretInput
    """Token of the Postmark server; required for Postmark."""
    message_stream: ShortText | None = None
    """Message stream at Postmark."""


class GmailCredentials(_ApiCredentials):
    """Gmail's API."""

    mailbox: ShortText
    """Address of the mailbox that sends; required for Gmail."""
    grant: dict[str, Any]
    """Key file of a service account, or a refresh token with its client; required for Gmail."""
    token_url: ShortText | None = None
    """OAuth token endpoint, if not the provider's default."""


_MODEL_BY_PROVIDER: Mapping[Provider, type[_Credentials]] = {
    Provider.SMTP: SmtpCredentials,
    Provider.SES: SesCredentials,
    Provider.MAILGUN: MailgunCredentials,
    Provider.POSTMARK: PostmarkCredentials,
    Provider.GMAIL: GmailCredentials,
}


def _model_of(provider: Provider) -> type[_Credentials]:
    """Return the model of a provider's credentials: a key, with a user name where it has one."""
    usual = LoginCredentials if provider.facts.username else KeyCredentials
    return _MODEL_BY_PROVIDER.get(provider, usual)


_MODELS: tuple[type[_Credentials], ...] = (
    SmtpCredentials,
    *(_model_of(Provider(name)) for name in NAMES_FOR_ACCOUNTS if Provider(name).has_api),
)


class _OneOfModels:
    """Describes an object by the models of all providers, once the document is made."""

    @staticmethod
    def __get_pydantic_json_schema__(*_: Any) -> dict[str, Any]:
        return {"anyOf": [model.model_json_schema() for model in dict.fromkeys(_MODELS)]}


AccountCredentials = Annotated[dict[str, Any], _OneOfModels()]
"""Parsed by `parse_credentials`, once the provider is known."""


def parse_credentials(provider: Provider, settings: Mapping[str, Any]) -> NewSender:
    """Return an account with these credentials; the caller fills in the name and the other fields.

    Raises:
        InvalidField: the field is named credentials.host and so on; the text repeats no secret.
    """
    try:
        read = _model_of(provider).model_validate(dict(settings))
    except ValidationError as exc:
        raise _within(invalid_request(exc)) from None
    match read:
        case SmtpCredentials():
            return _smtp(read)
        case SesCredentials():
            secret: object = read.secret_access_key.get_secret_value()
            if read.session_token is not None:
                token = read.session_token.get_secret_value()
                secret = {"secret_key": secret, "session_token": token}
            more = {"region": read.region, "configuration_set": read.configuration_set}
            return _api(provider, read, secret, username=read.access_key_id, **more)
        case MailgunCredentials():
            way = _api(provider, read, read.api_key.get_secret_value(), domain=read.domain)
            return _with_url(way, _EU_MAILGUN if read.region == "eu" else None)
        case PostmarkCredentials():
            token = read.server_token.get_secret_value()
            return _api(provider, read, token, message_stream=read.message_stream)
        case GmailCredentials():
            return _api(provider, read, read.grant, username=read.mailbox, token_url=read.token_url)
        case LoginCredentials():
            key = read.api_key.get_secret_value()
            return _api(provider, read, key, username=read.username)
        case KeyCredentials():
            return _api(provider, read, read.api_key.get_secret_value())
        case _:
            raise InvalidField("provider_type", f"{provider} has no credentials")


def _smtp(read: SmtpCredentials) -> NewSender:
    if read.grant is not None and read.password is not None:
        raise InvalidField("credentials.grant", "cannot be given together with a password")
    settings: dict[str, Any] = {}
    password = None
    if read.grant is not None:
        settings["auth"] = "xoauth2"
        password = Secret(write_json(read.grant).decode())
    elif read.password is not None:
        password = Secret(read.password.get_secret_value())
    if read.token_url is not None:
        settings["token_url"] = read.token_url
    return NewSender(
        name="",
        provider=Provider.SMTP,
        host=read.host,
        port=read.port,
        tls=_TLS_BY_MODE[read.tls_mode],
        username=read.username,
        password=password,
        settings=settings or None,
    )


def _api(
    provider: Provider,
    read: _ApiCredentials,
    secret: object,
    *,
    username: str | None = None,
    **named: str | None,
) -> NewSender:
    text = secret if isinstance(secret, str) else write_json(secret).decode()
    given = {name: value for name, value in named.items() if value is not None}
    if twice := sorted(set(given) & set(read.settings)):
        raise InvalidField("credentials.settings", f"{twice[0]} has a field of its own")
    return NewSender(
        name="",
        provider=provider,
        username=username,
        password=Secret(text),
        api_url=read.api_url,
        settings={**read.settings, **given} or None,
    )


def _with_url(way: NewSender, usual: str | None) -> NewSender:
    return way if way.api_url is not None or usual is None else replace(way, api_url=usual)


def _within(fault: Exception) -> InvalidField:
    """Return the error with `credentials.` before the field's name."""
    if isinstance(fault, Violations):
        return Violations([(f"credentials.{path}", why) for path, why in fault.violations])
    return InvalidField("credentials", str(fault))
