"""The commands that `mailqueue.why` names, and a parser for them."""

import re
import shlex
from uuid import UUID

import click

from mailqueue.cli.main import main
from mailqueue.db.fetch import Conn
from tests import make

COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )?mailqueue (.+?)(?=; |$)")
CHOSEN = {
    "N": "5",
    "N/s": "5/s",
    "N/DURATION": "3/7d",
    "TIME": "2030-05-01T08:00Z",
    "DURATION": "8h",
    "WINDOW": "22:00-06:00",
}
"""Words that the reader of a command replaces."""

Steps = dict[tuple[str, str], str]


async def steps(conn: Conn) -> Steps:
    found = await make.rows(conn, "SELECT subject, state, step FROM mailqueue.next_steps()")
    assert len({row[:2] for row in found}) == len(found), "a state has two rows"
    return {(subject, state): step for subject, state, step in found}


def states(known: Steps, *subjects: str) -> set[str]:
    return {state for subject, state in known if subject in subjects}


def commands(text: str) -> list[str]:
    return COMMAND.findall(text)


def parsed(line: str) -> click.Context:
    """Parse a command line as the program would, without running it."""
    words = [CHOSEN.get(word, word) for word in shlex.split(line)]
    command: click.Command = main
    context = click.Context(main, info_name="mailqueue")
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None, f"there is no command in: {line}"
        command = found
        if isinstance(command, click.Group):
            context = click.Context(command, parent=context, info_name=name)
    made = command.make_context(command.name, words, parent=context)
    assert not made.args, line
    return made


async def why(conn: Conn, some_id: UUID) -> str:
    return str(await make.scalar(conn, "SELECT mailqueue.why(%s)", some_id))
