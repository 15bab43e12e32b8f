"""Commands print through one helper, `mailqueue/cli/support/answer.py`, and are short."""

import ast
from collections.abc import Iterator, Mapping

from tests.rules.source import modules

CLI = "mailqueue.cli"
HELPER = "mailqueue.cli.support.answer"
MAX_BODY_LINES = 40
"""Lines of a command's body, without its options."""

# Modules that ask themselves whether --json was given, and why the helper does not serve.
ASKING: Mapping[str, str] = {
    "mailqueue.cli.maintenance.maintain": "as text a task is told as soon as it is over",
    "mailqueue.cli.sending.send": "as text the id is printed before the wait",
    "mailqueue.cli.status.commands": "a terminal gets one picture that changes",
    "mailqueue.cli.trap.commands": "messages are reduced one by one; options exclude each other",
}
# Modules that print JSON whatever was asked for.
ALWAYS_JSON = {"mailqueue.cli.privacy.export"}


def command_modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of commands, without what supports them."""
    for name, tree in modules().items():
        if name.startswith(f"{CLI}.") and not name.startswith(f"{CLI}.support"):
            yield name, tree


def names_of(tree: ast.AST) -> set[str]:
    """Return the names that a module reads, binds, imports or takes as arguments."""
    found = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                found.add(node.id)
            case ast.arg():
                found.add(node.arg)
            case ast.alias():
                found.add(node.name)
    return found


def declares_json(tree: ast.AST) -> bool:
    """Return whether a module declares the option `--json`."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "option"
        and any(isinstance(each, ast.Constant) and each.value == "--json" for each in node.args)
        for node in ast.walk(tree)
    )


def long_commands(module: str, tree: ast.AST) -> list[str]:
    """Return the decorated functions whose body is longer than MAX_BODY_LINES."""
    return [
        f"{module}.{node.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.decorator_list
        and (node.end_lineno or 0) - node.body[0].lineno >= MAX_BODY_LINES
    ]


def test_no_command_chooses_between_json_and_text() -> None:
    assert [name for name, tree in command_modules() if "as_json" in names_of(tree)] == []
    assert {name for name, tree in command_modules() if "prints_json" in names_of(tree)} == {
        *ASKING
    }
    assert {name for name, tree in command_modules() if "emit" in names_of(tree)} == ALWAYS_JSON


def test_the_option_for_json_is_declared_once() -> None:
    found = [name for name, tree in modules().items() if declares_json(tree)]

    assert found == [HELPER]


def test_commands_are_short() -> None:
    assert [one for name, tree in command_modules() for one in long_commands(name, tree)] == []


def test_a_command_that_breaks_the_rules_is_found() -> None:
    lines = "\n".join("    pass" for _ in range(MAX_BODY_LINES + 1))
    tree = ast.parse(
        'click.option("--json", is_flag=True)\n'
        "@json_option\n"
        f"def x(*, as_json: bool) -> None:\n{lines}"
    )

    assert declares_json(tree)
    assert "as_json" in names_of(tree)
    assert long_commands("mailqueue.cli.x", tree) == ["mailqueue.cli.x.x"]
