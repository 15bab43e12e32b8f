"""Reads all settings once, from the environment, and reports all errors together.

`MAILQUEUE_*` variables, `DATABASE_URL` and libpq's `PG*`. No other module reads the environment.
"""

import os
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, ValidationError
from pydantic_settings import SettingsConfigDict

from mailqueue.core.dsn import take_pool_max, with_password
from mailqueue.core.errors import ConfigError
from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.secret import Secret
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.attachments import OVER_BYTES, AttachmentSettings
from mailqueue.settings.bounces import BounceSettings
from mailqueue.settings.channels import ChannelSettings, channels_of
from mailqueue.settings.commands import SecretCommand
from mailqueue.settings.console import ConsoleSettings
from mailqueue.settings.data_folder import default_data
from mailqueue.settings.faults import faults_of
from mailqueue.settings.gmail import GmailSettings, gmail_of
from mailqueue.settings.listeners import ApiSettings, ListenerSettings
from mailqueue.settings.logs import LogFormat, LogLevel, LogSettings
from mailqueue.settings.metrics import MetricsSettings
from mailqueue.settings.nameserver import NameServer
from mailqueue.settings.oidc import OidcSettings
from mailqueue.settings.rabbitmq import RabbitSettings, rabbitmq_of
from mailqueue.settings.secret_files import password_command, secret_of
from mailqueue.settings.submission import SubmissionSettings
from mailqueue.settings.traces import TraceSettings, traces_of
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.settings.trap import TrapSettings
from mailqueue.settings.variables import (
    ArchivePlace,
    DatabaseUrl,
    NameServers,
    Networks,
    Places,
    Port,
    PublicUrl,
    SecretVariable,
    ServiceVariables,
    bounces_of,
    console_of,
    listeners_of,
    oidc_of,
    refuse_control,
    submission_of,
)
from mailqueue.settings.workers import WorkerSettings

# Variables by which libpq finds a server; PGUSER or PGPASSWORD alone name none.
_LIBPQ_SERVER = ("PGHOST", "PGHOSTADDR", "PGSERVICE")


class Pooler(StrEnum):
    """The kind of connection pooler in front of PostgreSQL."""

    NONE = "none"
    SESSION = "session"
    TRANSACTION = "transaction"  # no prepared statements, no LISTEN, no session locks


class DatabaseSource(StrEnum):
    """The source of the connection string."""

    GIVEN = "given"  # MAILQUEUE_DATABASE_URL or DATABASE_URL
    LIBPQ = "libpq"  # PGHOST and others; the string is empty and libpq reads them
    DIRECT = "direct"  # MAILQUEUE_DIRECT_URL
    REPLICA = "replica"  # MAILQUEUE_REPLICA_URL
    EMBEDDED = "embedded"  # the data folder of a running `mailqueue up`
    NONE = "none"


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """Connection settings of PostgreSQL."""

    url: Secret  # string for libpq, without `pool_max`
    source: DatabaseSource = DatabaseSource.GIVEN
    pool_max: int = 10
    pooler: Pooler = Pooler.NONE
    direct: Secret | None = None  # string without the pooler
    replica: Secret | None = None  # string of a standby that answers reports
    password_command: SecretCommand | None = None  # prints the password of each connection

    @property
    def for_sessions(self) -> "DatabaseSettings":
        """Return the settings of the direct connection, for LISTEN, SET, migrations and psql."""
        if self.direct is None:
            return self
        direct = DatabaseSettings(self.direct, DatabaseSource.DIRECT, self.pool_max)
        return replace(direct, password_command=self.password_command)

    @property
    def for_reports(self) -> "DatabaseSettings | None":
        """Return the settings of the standby that answers reports; None if none is set."""
        if self.replica is None:
            return None
        return replace(self, url=self.replica, source=DatabaseSource.REPLICA, direct=None)

    @property
    def has_sessions(self) -> bool:
        """Return whether LISTEN and SET work with `for_sessions`."""
        return self.for_sessions.pooler is not Pooler.TRANSACTION


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings from the environment and the command's options."""

    data: Path
    database: DatabaseSettings
    api: ApiSettings
    trap: TrapSettings
    workers: WorkerSettings
    archive: ArchiveSettings
    log: LogSettings
    master_key: Secret | None
    service_user: str | None  # user of the embedded server when started as root
    allowed_hosts: tuple[IpNetwork, ...]  # private networks that the outbound guard allows
    name_servers: tuple[NameServer, ...] = ()  # for domain checks; empty: those of the system
    master_key_previous: Secret | None = None  # opens what the previous master key sealed
    attachments: AttachmentSettings = field(default_factory=AttachmentSettings)
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    oidc: OidcSettings | None = None  # None: administrators use API tokens only
    submission: SubmissionSettings = field(default_factory=SubmissionSettings)
    bounces: BounceSettings = field(default_factory=BounceSettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    listeners: ListenerSettings = field(default_factory=ListenerSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    rabbitmq: RabbitSettings = field(default_factory=RabbitSettings)
    channels: ChannelSettings = field(default_factory=ChannelSettings)
    traces: TraceSettings = field(default_factory=TraceSettings)
    gmail: GmailSettings | None = None  # None: no inbox at Gmail is watched
    variables_set: frozenset[str] = frozenset()  # in lower case, without the prefix


class Environment(ServiceVariables):
    """The environment variables, one field each."""

    model_config = SettingsConfigDict(
        env_prefix="MAILQUEUE_",
        env_ignore_empty=True,
        arbitrary_types_allowed=True,
        frozen=True,
        populate_by_name=True,
        extra="forbid",
        hide_input_in_errors=True,
    )

    database_url: DatabaseUrl = Field(
        default=None, validation_alias=AliasChoices("MAILQUEUE_DATABASE_URL", "DATABASE_URL")
    )
    pooler: Pooler = Pooler.NONE
    direct_url: DatabaseUrl = None
    replica_url: DatabaseUrl = None
    data: Path = Field(default_factory=default_data)
    master_key: SecretVariable = None
    master_key_previous: SecretVariable = None
    service_user: str | None = None
    host: Annotated[str, BeforeValidator(refuse_control)] = "127.0.0.1"
    port: Port = 8025
    project_requests: Annotated[int, Field(ge=1, le=100_000)] = 200
    trap_port: Port = 1025
    trap_password: SecretVariable = None
    no_trap: bool = False
    workers: Annotated[int, Field(ge=0, le=256)] = Field(
        default_factory=lambda: os.cpu_count() or 1
    )
    in_flight: Annotated[int, Field(ge=1, le=1000)] = 64
    batch: Annotated[int, Field(ge=1, le=5000)] = 200
    max_send_rate: Annotated[float | None, Field(ge=0, le=1_000_000)] = None
    allowed_hosts: Networks = ()
    resolver: NameServers = ()
    archive: ArchivePlace = None
    archive_cold: ArchivePlace = None
    archive_endpoint: str | None = None
    attachment_store: Places = ()
    attachment_over: Annotated[int, Field(ge=1024, le=26_214_400)] = OVER_BYTES
    attachment_endpoint: str | None = None
    public_url: PublicUrl = None
    country_file: Path | None = None
    log_level: LogLevel = LogLevel.INFO
    log_format: LogFormat = LogFormat.AUTO


def load_settings(**options: Any) -> Settings:
    """Read the environment; `options` (named as fields of Environment) override it if not None.

    Raises:
        ConfigError: one line per invalid variable, with the allowed values.
    """
    try:
        return grouped(Environment(**{k: v for k, v in options.items() if v is not None}))
    except ValidationError as exc:
        raise ConfigError("\n".join(faults_of(exc))) from None


def database_url_file(data: Path) -> Path:
    """Return the file in which `mailqueue up` writes the embedded server's connection string."""
    return data / "database_url"


def grouped(env: Environment) -> Settings:
    """Return the settings of these variables.

    Raises:
        ConfigError: a variable needs another one, or its file cannot be read.
    """
    data = env.data.expanduser().absolute()
    database = _database(env, data)
    return Settings(
        data=data,
        database=database,
        api=ApiSettings(env.host, env.port, env.project_requests),
        trap=TrapSettings(not env.no_trap, env.host, env.trap_port, env.trap_password),
        workers=WorkerSettings(env.workers, env.in_flight, env.batch, env.max_send_rate),
        archive=_archives(env, data, database.source),
        log=LogSettings(env.log_level, env.log_format),
        master_key=secret_of(
            "MASTER_KEY", env.master_key_file, env.master_key, argv=env.master_key_command
        ),
        service_user=env.service_user,
        allowed_hosts=env.allowed_hosts,
        name_servers=env.resolver,
        master_key_previous=secret_of(
            "MASTER_KEY_PREVIOUS",
            env.master_key_previous_file,
            env.master_key_previous,
            argv=env.master_key_previous_command,
        ),
        attachments=AttachmentSettings(
            env.attachment_store, env.attachment_over, env.attachment_endpoint
        ),
        tracking=TrackingSettings(env.public_url, env.country_file),
        oidc=oidc_of(env),
        submission=submission_of(env),
        bounces=bounces_of(env),
        console=console_of(env),
        listeners=listeners_of(env, env.public_url),
        metrics=MetricsSettings(env.metrics_host, env.metrics_port),
        rabbitmq=rabbitmq_of(env),
        channels=channels_of(env),
        traces=traces_of(env),
        gmail=gmail_of(env),
        variables_set=frozenset(env.model_fields_set),
    )


def _archives(env: Environment, data: Path, source: DatabaseSource) -> ArchiveSettings:
    # Only the embedded one has a folder that is known to be durable.
    beside = (data / "archive").as_uri() if source is DatabaseSource.EMBEDDED else None
    warm = env.archive or beside
    return ArchiveSettings(warm, env.archive_cold or warm, env.archive_endpoint)


def _database(env: Environment, data: Path) -> DatabaseSettings:
    given, source = _connection_string(env, data)
    url, pool_max = take_pool_max(given)
    direct, replica = (
        take_pool_max(one.reveal())[0] if one else "" for one in (env.direct_url, env.replica_url)
    )
    is_given = source in (DatabaseSource.GIVEN, DatabaseSource.LIBPQ)
    command = password_command(env)
    password = secret_of("DATABASE_PASSWORD", env.database_password_file)
    if password and is_given:
        url = with_password(url, password.reveal())
        direct = direct and with_password(direct, password.reveal())
        replica = replica and with_password(replica, password.reveal())
    found = DatabaseSettings(
        Secret(url),
        source,
        pooler=env.pooler,
        direct=Secret(direct) or None,
        replica=Secret(replica) or None,
        password_command=command if is_given else None,
    )
    return found if pool_max is None else replace(found, pool_max=pool_max)


def _connection_string(env: Environment, data: Path) -> tuple[str, DatabaseSource]:
    if env.database_url:
        return env.database_url.reveal(), DatabaseSource.GIVEN
    if any(os.environ.get(name) for name in _LIBPQ_SERVER):
        return "", DatabaseSource.LIBPQ
    try:
        return database_url_file(data).read_text().strip(), DatabaseSource.EMBEDDED
    except PermissionError:
        raise ConfigError(
            f"{database_url_file(data)}: run this as its owner, or set MAILQUEUE_DATABASE_URL"
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        return "", DatabaseSource.NONE
