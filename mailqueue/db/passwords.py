"""Passwords that a program prints, each for a short time: tokens of clouds for databases."""

import asyncio
from time import monotonic
from typing import Any, Self

from psycopg import OperationalError

from mailqueue.core.errors import ConfigError, DatabaseUnavailable
from mailqueue.core.secret import Secret
from mailqueue.db.durable import DurableConnection
from mailqueue.db.faults import address_of, checked, refuses_password
from mailqueue.settings.commands import SecretCommand
from mailqueue.settings.environment import DatabaseSettings

REUSED_SECONDS = 60
"""Seconds for which new connections use a password again; those of clouds hold for 15 minutes."""
REFUSED_SECONDS = 5
"""Least seconds between two runs of the program because the server has refused a password."""
_VARIABLES = {"PGHOST": "host", "PGPORT": "port", "PGUSER": "user", "PGDATABASE": "dbname"}


class PrintedPasswords:
    """The passwords of one login at one address; connections opened together share a run."""

    def __init__(self, command: SecretCommand, environment: dict[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._kept: Secret | None = None
        self._kept_until = 0.0
        self._renewable_at = 0.0
        self._asked: asyncio.Task[Secret] | None = None

    async def current(self) -> Secret:
        """Return the password to connect with now; the program runs outside the event loop.

        Raises:
            DatabaseUnavailable: the program fails; the message has its variable and no output.
        """
        if self._kept is not None and monotonic() < self._kept_until:
            return self._kept
        asked, loop = self._asked, asyncio.get_running_loop()
        # A process that was forked, or another event loop, cannot wait for the task of this one.
        if asked is None or asked.done() or asked.get_loop() is not loop:
            asked = self._asked = loop.create_task(self._ask())
        return await asyncio.shield(asked)

    async def after(self, refused: Secret) -> Secret | None:
        """Return another password than the one that the server refused; None if there is none.

        Raises:
            DatabaseUnavailable: the program fails.
        """
        if self._kept == refused:
            if monotonic() < self._renewable_at:
                return None
            self._kept, self._renewable_at = None, monotonic() + REFUSED_SECONDS
        found = await self.current()
        return None if found == refused else found

    async def _ask(self) -> Secret:
        try:
            found = await asyncio.to_thread(self._command.run, self._environment)
        except ConfigError as exc:
            raise DatabaseUnavailable(str(exc)) from exc
        self._kept, self._kept_until = found, monotonic() + REUSED_SECONDS
        return found


class OpenedConnection(DurableConnection):
    """A connection whose password, where a program prints it, is asked for as it is opened."""

    @classmethod
    async def connect(cls, conninfo: str = "", **kwargs: Any) -> Self:
        """Connect with a password of `passwords`, if given; one that is refused is renewed once.

        Raises:
            OperationalError: the server does not answer, or refuses the login.
            DatabaseUnavailable: the program that prints the password fails.
        """
        passwords: PrintedPasswords | None = kwargs.pop("passwords", None)
        if passwords is None:
            return await super().connect(conninfo, **kwargs)
        password = await passwords.current()
        try:
            return await super().connect(conninfo, **kwargs, password=password.reveal())
        except OperationalError as exc:
            if not refuses_password(exc) or (other := await passwords.after(password)) is None:
                raise
        return await super().connect(conninfo, **kwargs, password=other.reveal())


_BY_LOGIN: dict[tuple[SecretCommand, tuple[str, ...]], PrintedPasswords] = {}


def passwords_of(settings: DatabaseSettings) -> PrintedPasswords | None:
    """Return the passwords of the login, shared by all connections; None without a program."""
    if settings.password_command is None:
        return None
    variables = address_variables(settings)
    key = (settings.password_command, tuple(variables.values()))
    if key not in _BY_LOGIN:
        _BY_LOGIN[key] = PrintedPasswords(settings.password_command, variables)
    return _BY_LOGIN[key]


def address_variables(settings: DatabaseSettings) -> dict[str, str]:
    """Return libpq's variables of the connection, for the program that prints its password."""
    found = address_of(checked(settings))
    return {variable: found[name] for variable, name in _VARIABLES.items()}
