"""Passes the connection to other libpq programs, without passwords in their arguments."""

from dataclasses import dataclass, field

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

from mailqueue.db.faults import checked
from mailqueue.db.passwords import address_variables
from mailqueue.settings.environment import DatabaseSettings

# Secrets without an environment variable: left out, as arguments are visible in process lists.
_NEVER_AN_ARGUMENT = frozenset({"sslpassword"})


@dataclass(frozen=True, slots=True)
class LibpqOptions:
    """The environment and connection string for a libpq program."""

    environment: dict[str, str] = field(repr=False)  # PGHOST, PGPASSWORD and others
    conninfo: str  # options without variables; often empty


def libpq_options(settings: DatabaseSettings) -> LibpqOptions:
    """Return the connection string as environment variables, as far as libpq has them.

    The program that prints the password is run, if there is one, and waited for.

    Raises:
        ConfigError: no usable connection string is set, or the program fails.
    """
    given = conninfo_to_dict(checked(settings).url.reveal())
    variable_by_keyword = {
        option.keyword.decode(): option.envvar.decode()
        for option in Conninfo.get_defaults()
        if option.envvar
    }
    environment: dict[str, str] = {}
    rest: dict[str, str] = {}
    for keyword, value in given.items():
        variable = variable_by_keyword.get(keyword)
        if variable is not None:
            environment[variable] = str(value)
        elif keyword not in _NEVER_AN_ARGUMENT:
            rest[keyword] = str(value)
    if settings.password_command is not None:
        password = settings.password_command.run(address_variables(settings))
        environment["PGPASSWORD"] = password.reveal()
    return LibpqOptions(environment, make_conninfo(**rest))
