"""What each kind of provider is reached with, typed; and how that is shown: never a secret."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import orjson
from pydantic import ConfigDict, Field, SecretStr, ValidationError, WithJsonSchema

from mailqueue.api.http.responses import Violations, invalid_request
from mailqueue.api.http.schema_base import Given
from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import NAMES_FOR_ACCOUNTS, Provider
from mailqueue.core.secret import Secret
from mailqueue.senders.model import NewSender, SenderAccount, Tls

MASK = "********"
_TLS_BY_MODE: Mapping[str, Tls] = {
    "none": Tls.NONE,
    "plain": Tls.NONE,
    "starttls": Tls.STARTTLS,
    "implicit": Tls.IMPLICIT,
    "tls": Tls.IMPLICIT,
}
_EU_MAILGUN = "https://api.eu.mailgun.net"

Text = Annotated[str, Field(min_length=1, max_length=998)]
SecretText = Annotated[SecretStr, Field(min_length=1, max_length=4096)]


class _Credentials(Given):
    model_config = ConfigDict(hide_input_in_errors=True)


class SmtpCredentials(_Credentials):
    """A server that speaks SMTP; `grant` in place of a password logs in by XOAUTH2."""

    host: Text
    """Name of the SMTP server, such as `smtp.example.com`; needed for SMTP."""
    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """Its port; if left out, 587 for `starttls`, 465 for `implicit` and 25 for `none`."""
    tls_mode: Literal["starttls", "implicit", "tls", "none", "plain"] = "starttls"
    """`starttls` after connecting, `implicit` (or `tls`) from the start, or `none` (or `plain`)."""
    username: Text | None = None
    """Name to log in by; no login if left out."""
    password: SecretText | None = None
    """Password of that name."""
    grant: dict[str, Any] | None = None
    """In place of a password, to log in by XOAUTH2: key file of a service account, or grant."""
    token_url: Text | None = None
    """Where the grant is exchanged for access tokens, where it is not the usual place."""


class _ApiCredentials(_Credentials):
    api_url: Text | None = None
    """Where the provider's API is, where it is not the usual place, such as that of a region."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Further settings of the provider; `extra` is an object of fields added to each request."""


class SesCredentials(_ApiCredentials):
    """Amazon SES."""

    region: Text = "us-east-1"
    """Region of Amazon SES, such as `eu-west-1`."""
    access_key_id: Text
    """Id of the access key; needed for Amazon SES."""
    secret_access_key: SecretText
    """The secret of that key; needed for Amazon SES."""
    session_token: SecretText | None = None
    """Token of a session, where the key is a temporary one."""
    configuration_set: Text | None = None
    """Configuration set of Amazon SES that mail goes by."""


class KeyCredentials(_ApiCredentials):
    """Each provider that names no others, such as SendGrid, Resend and SMTP2GO."""

    api_key: SecretText
    """Key of the provider's API; needed for SendGrid, Resend, SMTP2GO, Mailgun and the like."""


class LoginCredentials(KeyCredentials):
    """Each provider whose key goes with a name."""

    username: Text
    """Name that goes with the key."""


class MailgunCredentials(KeyCredentials):
    """Mailgun."""

    domain: Text
    """Domain at Mailgun that sends; needed for Mailgun."""
    region: Literal["us", "eu"] = "us"
    """Region of Mailgun."""


class PostmarkCredentials(_ApiCredentials):
    """Postmark."""

    server_token: SecretText
    """Token of the server at Postmark; needed for Postmark."""
    message_stream: Text | None = None
    """Message stream at Postmark."""


class GmailCredentials(_ApiCredentials):
    """Gmail's API."""

    mailbox: Text
    """Address of the mailbox that sends; needed for Gmail."""
    grant: dict[str, Any]
    """Key file of a service account, or grant; needed for Gmail."""
    token_url: Text | None = None
    """Where the grant is exchanged for access tokens, where it is not the usual place."""


_MODEL_BY_PROVIDER: Mapping[Provider, type[_Credentials]] = {
    Provider.SMTP: SmtpCredentials,
    Provider.SES: SesCredentials,
    Provider.MAILGUN: MailgunCredentials,
    Provider.POSTMARK: PostmarkCredentials,
    Provider.GMAIL: GmailCredentials,
}


def _model_of(provider: Provider) -> type[_Credentials]:
    """Return what an account's credentials are: a key, and a name where one goes with it."""
    usual = LoginCredentials if provider.facts.username else KeyCredentials
    return _MODEL_BY_PROVIDER.get(provider, usual)


_MODELS: tuple[type[_Credentials], ...] = (
    SmtpCredentials,
    *(_model_of(Provider(name)) for name in NAMES_FOR_ACCOUNTS if Provider(name).has_api),
)
_SCHEMAS = [model.model_json_schema() for model in dict.fromkeys(_MODELS)]
Credentials = Annotated[dict[str, Any], WithJsonSchema({"anyOf": _SCHEMAS})]
"""Read by `way_out`, once the provider is known."""


def way_out(provider: Provider, given: Mapping[str, Any]) -> NewSender:
    """Return the way out these credentials make; name and the rest are another's to fill in.

    Raises:
        InvalidField: named credentials.host and so on; nothing secret is repeated.
    """
    try:
        read = _model_of(provider).model_validate(dict(given))
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


def shown(account: SenderAccount) -> dict[str, Any]:
    """Return an account's credentials as they may be shown, under the names they are given by."""
    settings = dict(account.provider_settings or {})
    secret = None if account.smtp_password is None else MASK
    match account.provider:
        case Provider.SMTP:
            login = "grant" if settings.get("auth") == "xoauth2" else "password"
            return {
                "host": account.smtp_host,
                "port": account.smtp_port,
                "tls_mode": account.smtp_tls,
                "username": account.smtp_username,
                login: secret,
                **({"token_url": settings["token_url"]} if "token_url" in settings else {}),
            }
        case Provider.SES:
            named = {"region": settings.pop("region", None)}
            named["access_key_id"] = (account.smtp_username or "")[:4] + MASK
            named |= {"secret_access_key": secret}
        case Provider.MAILGUN:
            named = {"api_key": secret, "domain": settings.pop("domain", None)}
        case Provider.POSTMARK:
            named = {"server_token": secret}
        case Provider.GMAIL:
            named = {"mailbox": account.smtp_username, "grant": secret}
        case _:
            named = {"api_key": secret}
            if account.provider.facts.username:
                named["username"] = account.smtp_username
    return named | {"api_url": account.api_url, "settings": settings}


def _smtp(read: SmtpCredentials) -> NewSender:
    if read.grant is not None and read.password is not None:
        raise InvalidField("credentials.grant", "takes the place of a password: give one of them")
    settings: dict[str, Any] = {}
    password = None
    if read.grant is not None:
        settings["auth"] = "xoauth2"
        password = Secret(orjson.dumps(read.grant).decode())
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
    text = secret if isinstance(secret, str) else orjson.dumps(secret).decode()
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
    """Name the fields of credentials as what they are: fields within."""
    if isinstance(fault, Violations):
        return Violations([(f"credentials.{path}", why) for path, why in fault.violations])
    return InvalidField("credentials", str(fault))
