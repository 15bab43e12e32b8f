"""Types and validators of single environment variables. Pure."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from mailqueue.core.dsn import take_pool_max
from mailqueue.core.errors import ConfigError
from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.secret import Secret
from mailqueue.settings.attachments import parse_place, parse_places
from mailqueue.settings.bounces import BounceSettings, parse_domains
from mailqueue.settings.channels import ChannelVariables
from mailqueue.settings.console import CONSOLE_PORT, ConsoleSettings
from mailqueue.settings.link_mail import mail_of
from mailqueue.settings.listeners import ListenerSettings, Surface, hosts_of, names_of
from mailqueue.settings.nameserver import NameServer, parse_name_servers
from mailqueue.settings.oidc import (
    DEFAULT_ROLE,
    DEFAULT_ROLE_CLAIM,
    DEFAULT_SCOPES,
    GroupRule,
    OidcLogin,
    OidcSettings,
    parse_issuer,
    parse_rules,
    parse_scopes,
)
from mailqueue.settings.rabbitmq import RabbitVariables
from mailqueue.settings.secret_files import SecretFileVariables
from mailqueue.settings.submission import SubmissionSettings
from mailqueue.settings.traces import TraceVariables
from mailqueue.settings.tracking import parse_public_url


def _secret(value: object) -> object:
    return Secret(value) if isinstance(value, str) else value


def check_database_url(value: object) -> object:
    """Refuse a connection string with an invalid pool_max; return it as a secret."""
    if isinstance(value, str):
        take_pool_max(value)
    return _secret(value)


def _networks(value: object) -> object:
    if not isinstance(value, str):
        return value
    words = value.replace(",", " ").split()
    return tuple(ip_network(word) for word in words)


def _name_servers(value: object) -> object:
    return parse_name_servers(value) if isinstance(value, str) else value


def _place(value: object) -> object:
    return parse_place(value) if isinstance(value, str) else value


def _places(value: object) -> object:
    return parse_places(value) if isinstance(value, str) else value


def _public_url(value: object) -> object:
    return parse_public_url(value) if isinstance(value, str) else value


def _issuer(value: object) -> object:
    return parse_issuer(value) if isinstance(value, str) else value


def _rules(value: object) -> object:
    return parse_rules(value) if isinstance(value, str) else value


def _scopes(value: object) -> object:
    return parse_scopes(value) if isinstance(value, str) else value


def refuse_control(value: object) -> object:
    """Refuse a text with control characters."""
    if isinstance(value, str) and not value.isprintable():
        raise ValueError("must be printable text")
    return value


Port = Annotated[int, Field(ge=0, le=65535)]
SecretVariable = Annotated[Secret | None, NoDecode, BeforeValidator(_secret)]
"""A secret as it stands; without `NoDecode` one of digits would be read as a number."""
DatabaseUrl = Annotated[Secret | None, NoDecode, BeforeValidator(check_database_url)]
Networks = Annotated[tuple[IpNetwork, ...], NoDecode, BeforeValidator(_networks)]
NameServers = Annotated[tuple[NameServer, ...], NoDecode, BeforeValidator(_name_servers)]
ArchivePlace = Annotated[str | None, BeforeValidator(_place)]
Places = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_places)]
PublicUrl = Annotated[str | None, BeforeValidator(_public_url)]
HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9.\[\]:-]{1,255}$")]
DomainList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(parse_domains)]
Issuer = Annotated[str | None, BeforeValidator(_issuer)]
ClaimText = Annotated[str, BeforeValidator(refuse_control), Field(min_length=1, max_length=300)]
GroupRules = Annotated[tuple[GroupRule, ...], NoDecode, BeforeValidator(_rules)]
Scopes = Annotated[str, BeforeValidator(_scopes)]


class OidcVariables(BaseSettings):
    """The variables of OpenID Connect, for administrators and for users of the console."""

    oidc_issuer: Issuer = None
    oidc_allowed_hosts: Networks = ()
    oidc_audience: ClaimText | None = None
    oidc_role_claim: ClaimText = DEFAULT_ROLE_CLAIM
    oidc_role: ClaimText = DEFAULT_ROLE
    oidc_client_id: ClaimText | None = None
    oidc_client_secret: SecretVariable = None
    oidc_scopes: Scopes = DEFAULT_SCOPES
    oidc_groups: GroupRules = ()


class SubmissionVariables(BaseSettings):
    """The variables of the SMTP submission server."""

    no_submission: bool = False
    submission_host: Annotated[str, BeforeValidator(refuse_control)] = "127.0.0.1"
    submission_port: Port | None = None
    submission_tls_port: Port | None = None
    submission_certificate: Path | None = None
    submission_certificate_key: Path | None = None
    submission_name: HostName | None = None
    submission_project_connections: Annotated[int, Field(ge=1, le=1_000)] = 200


class BouncesVariables(BaseSettings):
    """The variables of the server that receives bounce messages."""

    bounces_host: Annotated[str, BeforeValidator(refuse_control)] = "127.0.0.1"
    bounces_port: Port | None = None
    bounces_domains: DomainList = ()
    bounces_name: HostName | None = None


class ConsoleVariables(BaseSettings):
    """The variables of the console."""

    console_host: Annotated[str, BeforeValidator(refuse_control)] = "127.0.0.1"
    console_port: Port | None = None
    console_url: PublicUrl = None
    console_require_second_factor: bool = False
    console_mail_url: SecretVariable = None
    console_mail_from: Annotated[str | None, BeforeValidator(refuse_control)] = None


class ListenerVariables(BaseSettings):
    """The variables of HTTP listeners and their names."""

    public_host: Annotated[str, BeforeValidator(refuse_control)] = "127.0.0.1"
    public_port: Port | None = None
    public_names: DomainList = ()
    api_names: DomainList = ()
    console_names: DomainList = ()


class MetricsVariables(BaseSettings):
    """The variables of the metrics port."""

    metrics_host: Annotated[str, BeforeValidator(refuse_control)] = "127.0.0.1"
    metrics_port: Port | None = None


class GmailVariables(BaseSettings):
    """The variables of the OAuth client by which inboxes at Gmail are watched."""

    gmail_client_id: ClaimText | None = None
    gmail_client_secret: SecretVariable = None
    gmail_url: PublicUrl = None
    gmail_topic: ClaimText | None = None
    gmail_push_account: ClaimText | None = None


class ServiceVariables(
    OidcVariables,
    SubmissionVariables,
    BouncesVariables,
    ConsoleVariables,
    ListenerVariables,
    MetricsVariables,
    RabbitVariables,
    ChannelVariables,
    GmailVariables,
    TraceVariables,
    SecretFileVariables,
):
    """The variables of single services, and of secrets in files."""


def console_of(env: ServiceVariables) -> ConsoleSettings:
    """Return the settings of these variables.

    Raises:
        ConfigError: a setting that logins at an issuer or mailed links need is missing.
    """
    port = CONSOLE_PORT if env.console_port is None else env.console_port
    mail = mail_of(env.console_mail_url, env.console_mail_from, env.console_url)
    required = env.console_require_second_factor
    return ConsoleSettings(env.console_host, port, env.console_url, login_of(env), required, mail)


def listeners_of(env: ServiceVariables, public_url: str | None) -> ListenerSettings:
    """Return the settings of HTTP listeners, from their variables."""
    return ListenerSettings(
        env.public_host,
        env.public_port,
        env.console_port,
        names_of(
            {
                Surface.API: env.api_names,
                Surface.CONSOLE: env.console_names,
                Surface.PUBLIC: env.public_names,
            }
        ),
        hosts_of(public_url, env.console_url),
    )


def bounces_of(env: BouncesVariables) -> BounceSettings:
    """Return the settings of the server for bounce mail, from its variables."""
    return BounceSettings(env.bounces_host, env.bounces_port, env.bounces_domains, env.bounces_name)


def submission_of(env: SubmissionVariables) -> SubmissionSettings:
    """Return the settings of the submission server, from its variables."""
    return SubmissionSettings(
        is_on=not env.no_submission,
        host=env.submission_host,
        port=env.submission_port,
        tls_port=env.submission_tls_port,
        certificate=env.submission_certificate,
        certificate_key=env.submission_certificate_key,
        name=env.submission_name,
        project_connections=env.submission_project_connections,
    )


def oidc_of(env: OidcVariables) -> OidcSettings | None:
    """Return the settings of tokens for the API, from its variables; None if there are none.

    Raises:
        ConfigError: the audience is missing, so that tokens for other services would be accepted.
    """
    if env.oidc_issuer is None:
        return None
    if env.oidc_audience is None:
        if env.oidc_client_id is not None:
            return None
        raise ConfigError(
            "MAILQUEUE_OIDC_AUDIENCE: required with MAILQUEUE_OIDC_ISSUER: "
            "the aud claim of its tokens for mailqueue"
        )
    return OidcSettings(
        env.oidc_issuer,
        env.oidc_audience,
        env.oidc_role_claim,
        env.oidc_role,
        env.oidc_allowed_hosts,
    )


def login_of(env: ServiceVariables) -> OidcLogin | None:
    """Return the settings of logins at an issuer; None if there are none.

    Raises:
        ConfigError: a further setting is required, or the audience of the API is the client.
    """
    if env.oidc_client_id is None:
        return None
    if env.oidc_client_id == env.oidc_audience:
        raise ConfigError(
            "MAILQUEUE_OIDC_AUDIENCE: must differ from MAILQUEUE_OIDC_CLIENT_ID: "
            "what proves a login would be a token for the API"
        )
    required = {
        "OIDC_ISSUER": (env.oidc_issuer, "the issuer at which people log in"),
        "OIDC_GROUPS": (env.oidc_groups, "who may log in, such as GROUP=ROLE:PROJECT"),
        "CONSOLE_URL": (env.console_url, "browsers return from the issuer to it"),
    }
    for name, (value, why) in required.items():
        if not value:
            raise ConfigError(f"MAILQUEUE_{name}: required with MAILQUEUE_OIDC_CLIENT_ID: {why}")
    return OidcLogin(
        issuer=env.oidc_issuer or "",
        client_id=env.oidc_client_id,
        rules=env.oidc_groups,
        client_secret=env.oidc_client_secret,
        scopes=env.oidc_scopes,
        role_claim=env.oidc_role_claim,
        allowed_hosts=env.oidc_allowed_hosts,
    )
