"""What a row of SERVICES says of a process: command, options, login, and how it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mailqueue.core.queues.registry import QUEUES


class ServiceLogin(StrEnum):
    """The database login of a process, as the samples name it."""

    API = "api"
    WORKER = "worker"
    MIGRATE = "migrate"

    @property
    def role(self) -> str:
        """Return the role that the login is a member of."""
        return "mailqueue_migrator" if self is ServiceLogin.MIGRATE else f"mailqueue_{self}"


class InUp(StrEnum):
    """How `mailqueue up` runs a service."""

    PART = "part"  # `up` consists of these
    BESIDE = "beside"  # by its listener, which runs where the settings ask for it
    NO = "no"


class OptionKind(StrEnum):
    """The values that an option of a command takes."""

    TEXT = "text"
    PORT = "port"  # 0 takes a free port
    FILE = "file"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class ServiceOption:
    """An option of the command of a service; it takes precedence over its variable."""

    flag: str
    variable: str
    """Name of the variable in lower case, without `MAILQUEUE_`."""
    help: str
    kind: OptionKind = OptionKind.TEXT

    @classmethod
    def host(cls, variable: str) -> "ServiceOption":
        """Return `--host`, of a variable that is 127.0.0.1 where it is not set."""
        shown = f"[MAILQUEUE_{variable.upper()}; 127.0.0.1]"
        return cls("--host", variable, f"Address to listen on.  {shown}")

    @classmethod
    def port(cls, variable: str, default: int) -> "ServiceOption":
        """Return `--port`, of a variable that is `default` where it is not set."""
        shown = f"[MAILQUEUE_{variable.upper()}; {default}]"
        text = f"Port to listen on; 0 takes a free port.  {shown}"
        return cls("--port", variable, text, OptionKind.PORT)


@dataclass(frozen=True, slots=True)
class Service:
    """A process of an installation.

    `command` are the words after `mailqueue` that start it; `mailqueue worker NAME...` works on
    several queues in one process. A listener has a function that runs it; workers have none, they
    are processes that claim rows.
    """

    name: str
    """Its name in logs, and of its connections: `mailqueue/NAME`."""
    command: tuple[str, ...]
    summary: str
    """One line, as `--help` shows it."""
    login: ServiceLogin
    in_up: InUp
    listener: str | None = None
    """The function that runs it, as MODULE:FUNCTION; imported where the service runs."""
    help: str = ""
    """Text of `--help`."""
    examples: tuple[str, ...] = ()
    options: tuple[ServiceOption, ...] = ()
    fixed: Mapping[str, object] = field(default_factory=dict)
    """Variables that its command sets, as `variable` of an option names them."""
    has_json: bool = False
    """Whether its command prints its addresses as a JSON document when asked to."""
    needs: tuple[str, ...] = ()
    """Variables without which it does not start, as `variable` of an option names them."""
    need: str | None = None
    """SQL function that returns what it is needed for, as text; the check of services reads it."""
    container: str | None = None
    """Its name in docker-compose.yml; None: not among the containers."""
    unit: str | None = None
    """Its unit for systemd, without `.service`; None: there is none."""

    @property
    def queues(self) -> tuple[str, ...]:
        """Return the queues that the process works on."""
        names = {spec.name for spec in QUEUES}
        return tuple(word for word in self.command if word in names)
