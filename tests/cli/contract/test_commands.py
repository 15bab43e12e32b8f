"""Every command with `--json` prints one document."""

import json
from collections.abc import Iterator, Mapping

import click

from mailqueue.cli.main import COMMANDS, load
from tests.cli.support.invoked import Cli

# What these print is no value of the API, or they run until they are stopped.
LEFT_OUT = {"up", "bench"}
OF_NONE = {("birthday", "show")}
"""Commands that show what a new project does not have."""


def commands(
    group: Mapping[str, click.Command], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command that is no group, with its arguments."""
    for name, command in group.items():
        if isinstance(command, click.Group):
            yield from commands(command.commands, (*before, name))
        else:
            yield (*before, name), command


def test_each_command_that_needs_nothing_prints_one_document(cli: Cli) -> None:
    listing = {name: load(lazy) for name, lazy in COMMANDS.items() if name not in LEFT_OUT}
    ran = []
    for words, command in commands(listing):
        options = {one for param in command.params for one in param.opts}
        is_needed = any(param.required for param in command.params)
        if "--json" not in options or is_needed or words[0] == "worker":
            continue
        sure = ("--yes",) if "--yes" in options else ()
        printed = cli(*words, *sure, "--json")
        if printed.exit_code == 2:  # it asks for one of several options
            continue
        if words in OF_NONE:
            assert printed.exit_code == 1
            continue
        json.loads(printed.stdout)
        ran.append(words[-1])

    assert {"status", "doctor", "verify", "list", "health", "rates", "settings"} <= set(ran)
