"""Every command in the documentation is valid."""

import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import click
import pytest

from mailqueue.cli.main import main
from tests.docs.reading import arguments_of, commands, shell_lines, spans

_FILE = re.compile(r"[\w-]+\.(csv|html|json|txt|sql)")
_SPANS = sorted({span for _, span in spans() if re.match(r"mailqueue [a-z]", span)})


def accepts(arguments: list[str]) -> None:
    """Let the real command line parse the arguments, without running the command.

    Raises:
        click.UsageError: for a command, option or value there is not.
    """
    with ExitStack() as contexts:
        command: click.Command = main
        parent: click.Context | None = None
        while True:
            context = command.make_context(command.name, list(arguments), parent=parent)
            contexts.enter_context(context)  # closes the files it opened
            if not isinstance(command, click.Group):
                return
            rest = [*context._protected_args, *context.args]
            _, found, arguments = command.resolve_command(context, rest)
            assert found is not None
            command, parent = found, context


def unknown_in(words: list[str]) -> list[str]:
    """Return the unknown commands and options in a mention of a command; values are free."""
    command: click.Command = main
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z]+", words[0]):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return [words[0]]
        command, words = found, words[1:]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    known |= {"--help"}
    return [word for word in words if word.startswith("--") and word.split("=")[0] not in known]


@pytest.mark.parametrize(
    "arguments", [pytest.param(arguments, id=place) for place, arguments in commands()]
)
def test_every_command_in_a_shell_block_is_one_of_ours(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in arguments:
        if _FILE.fullmatch(word):
            (tmp_path / word).write_text("email\nann@example.com\n")

    accepts(arguments)


@pytest.mark.parametrize("span", _SPANS)
def test_every_command_in_a_sentence_is_one_of_ours(span: str) -> None:
    words = [word.strip("[]…") for word in shlex.split(span)[1:]]

    assert unknown_in(words) == []


def test_the_documentation_shows_commands() -> None:
    assert len(commands()) > 20
    assert len(_SPANS) > 10


@pytest.mark.parametrize(
    "line", ["mailqueue statu", "mailqueue status --whatch", "mailqueue why x"]
)
def test_a_command_there_is_not_is_found(line: str) -> None:
    with pytest.raises(click.UsageError):
        accepts(shlex.split(line)[1:])


def test_a_mention_of_what_there_is_not_is_found() -> None:
    assert unknown_in(["sender", "hire"]) == ["hire"]
    assert unknown_in(["sender", "add", "--hots", "x"]) == ["--hots"]
    assert unknown_in(["why", "ID"]) == []


def test_commands_are_found_in_shell_text() -> None:
    text = "P=x mailqueue psql -c 'SELECT 1;\nSELECT 2' | less\nls; mailqueue status  # all\n"

    found = [arguments_of(words) for words in shell_lines(f"{text}mailqueue verify")]

    assert found == [["psql", "-c", "SELECT 1;\nSELECT 2"], None, None, ["status"], ["verify"]]
