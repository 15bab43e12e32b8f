"""Foreign messages are parsed by one reader with limits."""

import ast

import pytest

from tests.rules.source import modules

PARSERS = frozenset({"parser", "feedparser"})
"""Modules of the standard library that parse a whole message, at a cost its sender chooses."""
HOMES = frozenset(
    {
        "mailqueue.inbound.bounces.library",
        "mailqueue.testing.memory_transport",
        "mailqueue.watch.reading",
    }
)
"""Modules that use those parsers for small messages, the first kilobytes of messages, or messages
that we have built, only."""


def parsing(tree: ast.Module) -> list[str]:
    """Return the uses of the standard library's parsers of whole messages."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="email", names=names):
                found += [one.name for one in names if _parses(one.name)]
            case ast.ImportFrom(module="email.parser" | "email.feedparser"):
                found.append(str(node.module))
            case ast.Import(names=names):
                found += [one.name for one in names if one.name in _MODULES]
            case ast.Attribute(value=ast.Name(id="email"), attr=name) if _parses(name):
                found.append(name)
    return found


_MODULES = frozenset(f"email.{name}" for name in PARSERS)


def _parses(name: str) -> bool:
    return name in PARSERS or name.startswith("message_from_")


def test_no_message_is_parsed_but_by_our_reader() -> None:
    found = {name for name, tree in modules().items() if parsing(tree)}

    assert found == HOMES


@pytest.mark.parametrize(
    "source",
    [
        "from email import message_from_bytes",
        "from email.parser import BytesParser",
        "import email.parser",
        "import email\nemail.message_from_string('')",
    ],
)
def test_a_parser_of_the_standard_library_is_found(source: str) -> None:
    assert parsing(ast.parse(source))
