"""`mailqueue psql`: psql, connected to mailqueue's database."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import click

from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.core.errors import ConfigError
from mailqueue.db.libpq import LibpqOptions, libpq_options
from mailqueue.embedded.binaries import all_binaries
from mailqueue.settings.environment import DatabaseSource


@click.command(
    context_settings={
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": ["--help"],  # -h is the host, to psql
    },
    epilog=examples(
        "mailqueue psql",
        "mailqueue psql -c 'SELECT * FROM mailqueue.queue_depth'",
        "mailqueue psql -X -f report.sql",
    ),
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def psql(*, args: tuple[str, ...]) -> None:
    """Open psql on mailqueue's database. Arguments are passed to psql.

    On the embedded server, names without a schema are those of the schema public.
    """
    settings = command_settings().database.for_sessions
    found = libpq_options(settings)
    variables = environment(found, os.environ)
    if settings.source is DatabaseSource.EMBEDDED:
        variables = in_public(variables)
    program = find_psql()
    # Replaces this process: psql gets the terminal, its signals and its exit code.
    os.execve(program, arguments(program, found, args), variables)  # noqa: S606


def find_psql() -> Path:
    """Return the path of the psql of the installed wheel, otherwise of the system's.

    Raises:
        ConfigError: there is none.
    """
    for binaries in all_binaries():
        program = Path(binaries.program("psql"))
        if program.is_file():
            return program
    system = shutil.which("psql")
    if system is None:
        raise ConfigError(
            "psql was not found: install the package mailqueue[embedded], or PostgreSQL's client"
        )
    return Path(system)


def arguments(program: Path, options: LibpqOptions, args: tuple[str, ...]) -> list[str]:
    """Return psql's arguments, the caller's last; none contains a password.

    The first is its path: given a bare name, psql searches PATH for itself and exits if absent.
    """
    return [str(program), *(["--dbname", options.conninfo] if options.conninfo else []), *args]


def environment(options: LibpqOptions, own: Mapping[str, str]) -> dict[str, str]:
    """Return psql's environment: this process's without mailqueue's secrets, plus the database."""
    kept = {name: value for name, value in own.items() if not name.startswith("MAILQUEUE_")}
    kept.pop("DATABASE_URL", None)
    return kept | options.environment


def in_public(variables: Mapping[str, str]) -> dict[str, str]:
    """Return psql's environment with the schema public as its search_path, unless that is set.

    The login and the schema of the embedded server are both called mailqueue: by PostgreSQL's
    default, tables without a schema in their name would be created among those of mailqueue.
    """
    options = f"-c search_path=public {variables.get('PGOPTIONS', '')}"
    return {**variables, "PGOPTIONS": options.strip()}
