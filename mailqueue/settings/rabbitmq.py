"""Settings of the bridge to RabbitMQ. Values and their format."""

import re
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, urlsplit, urlunsplit

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.settings.commands import SecretCommand
from mailqueue.settings.secret_files import CommandVariable, command_of

_PROJECT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_NAME = re.compile(r"[!-+\--<>-~]{1,200}")  # printable, without "=" and ","


class Topology(StrEnum):
    """Who declares queues and exchanges."""

    DECLARE = "declare"  # mailqueue does
    CHECK = "check"  # somebody else does; what is missing is an error


@dataclass(frozen=True, slots=True)
class QueueOfProject:
    """A queue whose messages are events of a project."""

    queue: str
    project: str


@dataclass(frozen=True, slots=True)
class ExchangeOfQueue:
    """An exchange that is bound to a queue; without a key it is a fanout exchange."""

    exchange: str
    queue: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class PublishRule:
    """A pattern of exchanges to which a project may publish."""

    project: str
    exchanges: str

    def allows(self, project: str, exchange: str) -> bool:
        """Return whether the project may publish to the exchange by this rule."""
        return self.project == project and fnmatchcase(exchange, self.exchanges)


@dataclass(frozen=True, slots=True)
class RabbitSettings:
    """The broker, the queues that are consumed, and who may publish where.

    `url` None: there is no broker.
    """

    url: Secret | None = None
    queues: tuple[QueueOfProject, ...] = ()
    bindings: tuple[ExchangeOfQueue, ...] = ()
    publish: tuple[PublishRule, ...] = ()
    topology: Topology = Topology.DECLARE
    prefetch: int = 100
    delivery_limit: int = 20
    heartbeat_s: int = 30
    password_file: Path | None = None
    password_command: SecretCommand | None = None  # prints the password of each connection
    ca: Path | None = None  # None: those of the system
    certificate: Path | None = None
    certificate_key: Path | None = None

    def check(self) -> None:
        """Check that there is a broker, and the file of its password; no program is run.

        Raises:
            ConfigError: there is no broker, or the file cannot be read.
        """
        self._needed_url()
        if self.password_command is None:
            self._password()

    def url_with_password(self) -> str:
        """Return the URL with the password of the file or the program, if there is one.

        Blocks until the program ends.

        Raises:
            ConfigError: there is no broker, the file cannot be read, or the program fails.
        """
        url, password = self._needed_url(), self._password()
        if password is None:
            return url
        parts = urlsplit(url)
        user, _, host = parts.netloc.rpartition("@")
        user = user.partition(":")[0] or "guest"
        netloc = f"{user}:{quote(password, safe='')}@{host}"
        return urlunsplit(parts._replace(netloc=netloc))

    def _needed_url(self) -> str:
        if self.url is None:
            raise ConfigError(
                "MAILQUEUE_RABBITMQ_URL: required, such as amqps://user:password@host/vhost"
            )
        return self.url.reveal()

    def _password(self) -> str | None:
        if self.password_command is not None:
            return self.password_command.run().reveal()
        if self.password_file is None:
            return None
        try:
            return self.password_file.read_text().strip()
        except OSError as exc:
            raise ConfigError(
                f"MAILQUEUE_RABBITMQ_PASSWORD_FILE: {self.password_file}: {exc.strerror}"
            ) from exc


def parse_url(text: str) -> Secret:
    """Parse the URL of a broker.

    Raises:
        ValueError: it is no amqp:// or amqps:// URL with a host.
    """
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("amqp", "amqps") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError("must be a URL such as amqps://user:password@rabbitmq.example.com/vhost")
    return Secret(text)


def parse_queues(text: str) -> tuple[QueueOfProject, ...]:
    """Parse QUEUE=PROJECT, separated by commas.

    Raises:
        ValueError: one is not of this form, or a queue is named twice.
    """
    found = []
    for word in _words(text):
        queue, is_given, project = word.partition("=")
        if not is_given or not _NAME.fullmatch(queue) or not _PROJECT.fullmatch(project):
            raise ValueError(f"must be QUEUE=PROJECT, separated by commas, got {word!r}")
        found.append(QueueOfProject(queue, project))
    if len({one.queue for one in found}) < len(found):
        raise ValueError("a queue is named twice")
    return tuple(found)


def parse_bindings(text: str) -> tuple[ExchangeOfQueue, ...]:
    """Parse EXCHANGE=QUEUE or EXCHANGE=QUEUE KEY, separated by commas.

    Raises:
        ValueError: one is not of this form.
    """
    found = []
    for word in _words(text):
        exchange, is_given, rest = word.partition("=")
        queue, _, key = rest.partition(" ")
        if not is_given or not _NAME.fullmatch(exchange) or not _NAME.fullmatch(queue):
            raise ValueError(f"must be EXCHANGE=QUEUE or EXCHANGE=QUEUE KEY, got {word!r}")
        found.append(ExchangeOfQueue(exchange, queue, key.strip() or None))
    return tuple(found)


def parse_publish(text: str) -> tuple[PublishRule, ...]:
    """Parse PROJECT=PATTERN of exchanges, separated by commas; * stands for any characters.

    Raises:
        ValueError: one is not of this form.
    """
    found = []
    for word in _words(text):
        project, is_given, pattern = word.partition("=")
        if not is_given or not _PROJECT.fullmatch(project) or not _NAME.fullmatch(pattern):
            raise ValueError(f"must be PROJECT=EXCHANGES, such as shop=shop.*, got {word!r}")
        found.append(PublishRule(project, pattern))
    return tuple(found)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _broker_url(value: object) -> object:
    return parse_url(value) if isinstance(value, str) else value


def _broker_queues(value: object) -> object:
    return parse_queues(value) if isinstance(value, str) else value


def _broker_bindings(value: object) -> object:
    return parse_bindings(value) if isinstance(value, str) else value


def _publish_rules(value: object) -> object:
    return parse_publish(value) if isinstance(value, str) else value


UrlVariable = Annotated[Secret | None, NoDecode, BeforeValidator(_broker_url)]
QueueList = Annotated[tuple[QueueOfProject, ...], NoDecode, BeforeValidator(_broker_queues)]
BindingList = Annotated[tuple[ExchangeOfQueue, ...], NoDecode, BeforeValidator(_broker_bindings)]
RuleList = Annotated[tuple[PublishRule, ...], NoDecode, BeforeValidator(_publish_rules)]


class RabbitVariables(BaseSettings):
    """The variables of the bridge to RabbitMQ."""

    rabbitmq_url: UrlVariable = None
    rabbitmq_password_file: Path | None = None
    rabbitmq_password_command: CommandVariable = None
    rabbitmq_queues: QueueList = ()
    rabbitmq_bindings: BindingList = ()
    rabbitmq_publish: RuleList = ()
    rabbitmq_topology: Topology = Topology.DECLARE
    rabbitmq_prefetch: Annotated[int, Field(ge=1, le=10_000)] = 100
    rabbitmq_delivery_limit: Annotated[int, Field(ge=1, le=1000)] = 20
    rabbitmq_heartbeat: Annotated[int, Field(ge=5, le=600)] = 30
    rabbitmq_ca: Path | None = None
    rabbitmq_certificate: Path | None = None
    rabbitmq_certificate_key: Path | None = None


def rabbitmq_of(env: RabbitVariables) -> RabbitSettings:
    """Return the settings of the bridge to RabbitMQ, from its variables."""
    return RabbitSettings(
        url=env.rabbitmq_url,
        queues=env.rabbitmq_queues,
        bindings=env.rabbitmq_bindings,
        publish=env.rabbitmq_publish,
        topology=env.rabbitmq_topology,
        prefetch=env.rabbitmq_prefetch,
        delivery_limit=env.rabbitmq_delivery_limit,
        heartbeat_s=env.rabbitmq_heartbeat,
        password_file=env.rabbitmq_password_file,
        password_command=command_of(
            "RABBITMQ_PASSWORD", env.rabbitmq_password_file, env.rabbitmq_password_command
        ),
        ca=env.rabbitmq_ca,
        certificate=env.rabbitmq_certificate,
        certificate_key=env.rabbitmq_certificate_key,
    )
