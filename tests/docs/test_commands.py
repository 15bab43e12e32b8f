"""Every command in the documentation is valid."""

import re
import shlex
from contextlib import ExitStack, chdir
from pathlib import Path

import click
import pytest

from mailqueue.cli.main import main
from tests.docs.reading import arguments_of, commands, shell_lines, spans

_FILE = re.compile(r"[\w-]+\.(csv|png|html|json|txt|sql)")
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


def unknown_in_span(span: str) -> list[str]:
    """Return what is unknown in a mention between backticks, with a fault of its quotes."""
    try:
        words = shlex.split(span)[1:]
    except ValueError as error:
        return [str(error)]
    return unknown_in([word.strip("[]…") for word in words])


def fault_of(arguments: list[str], folder: Path) -> str | None:
    """Return why the command line refuses the arguments, in a folder with the files they name."""
    folder.mkdir()
    for word in arguments:
        if _FILE.fullmatch(word):
            (folder / word).write_text("email\nann@example.com\n")
    try:
        with chdir(folder):
            accepts(arguments)
    except (click.ClickException, click.exceptions.Exit) as error:
        return str(error) or repr(error)
    return None


def test_every_command_in_a_shell_block_is_one_of_ours(tmp_path: Path) -> None:
    faults = [
        f"{place}: {shlex.join(arguments)}: {fault}"
        for number, (place, arguments) in enumerate(commands())
        if (fault := fault_of(arguments, tmp_path / str(number))) is not None
    ]

    assert faults == [], "\n".join(faults)


def test_every_command_in_a_sentence_is_one_of_ours() -> None:
    faults = [f"{span}: {word}" for span in _SPANS for word in unknown_in_span(span)]

    assert faults == [], "\n".join(faults)


def test_the_documentation_shows_commands() -> None:
    assert len(commands()) > 20
    assert len(_SPANS) > 10


def test_a_command_that_is_refused_is_a_fault(tmp_path: Path) -> None:
    assert "there is no command 'statu'" in str(fault_of(["statu"], tmp_path / "one"))
    assert fault_of(["status"], tmp_path / "two") is None


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
