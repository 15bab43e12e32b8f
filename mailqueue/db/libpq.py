"""How other programs that use libpq reach the same database, no password in their arguments."""

from dataclasses import dataclass, field

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

from mailqueue.db.faults import checked
from mailqueue.settings.environment import DatabaseSettings

# Secret and without a variable of its own: better left out than shown in a list of processes.
_NEVER_AN_ARGUMENT = frozenset({"sslpassword"})


@dataclass(frozen=True, slots=True)
class Reach:
    """What a libpq program is started with."""

    environment: dict[str, str] = field(repr=False)  # PGHOST, PGPASSWORD and their kin
    conninfo: str  # the rest, which has no variables; often empty


def reach(settings: DatabaseSettings) -> Reach:
    """Put the connection string into variables, as far as libpq has them.

    Raises:
        ConfigError: if no usable connection string is set.
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
    return Reach(environment, make_conninfo(**rest))
