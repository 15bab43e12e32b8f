"""Every regular expression of the package takes linear time.

Most of them match text of untrusted senders and tenants. One of quadratic time delays all other
work: with a mail of 1 MB it would occupy all workers for minutes.
"""

import ast
import importlib
import re
from collections.abc import Iterator

import pytest

from tests.rules.patterns.backtracking import fault_of
from tests.rules.source import modules

_FROM_BEGINNING = ("match", "fullmatch")
_METHODS = ("search", "finditer", "findall", "sub", "subn", "split", *_FROM_BEGINNING)
Where = tuple[str, str]

LINEAR_ALL_THE_SAME = {
    ("mailqueue.core.mailboxes", "_ONE"): "it reads only what _LIST has read, whose pieces it is",
    ("mailqueue.trap.summary", "_UNSEEN"): "it ends at the end of the text at the latest",
}
"""Expressions that the rule refuses although they are fast, and why."""

MADE_WHILE_RUNNING = {
    ("mailqueue.api.compat.routing", "_add"): "from the table of endpoints",
    ("mailqueue.api.compat.sendgrid.faults", "_wrong"): "from _WORDS, on a name cut at 300",
    ("mailqueue.api.compat.sendgrid.tags", "_pattern"): "words with | between them; see MAX_WORK",
    ("mailqueue.mime.rawhead", "first_field"): "a name of ours",
    ("mailqueue.privacy.pattern", "matcher_of"): "words with | between them",
    ("mailqueue.tracking.pattern", "__init__"): "letters of ours and counted repeats",
    ("mailqueue.tracking.pattern", "_template"): "letters of ours and counted repeats",
    ("mailqueue.watch.matching", "has_phrase"): "a phrase letter by letter, at most 512",
}
"""Expressions built in functions, by function, with examples."""


@pytest.mark.parametrize(
    ("expression", "how"),
    [
        (r"<[^>]*>", "search"),
        (r"\s+$", "search"),
        (r"(a*)*b", "match"),
        (r"(a|a)*b", "match"),
        (r"^(a+)+$", "match"),
        (r"a*a*b", "match"),
        (r"\s*(\w+)\s*=\s*(.*?)\s*", "fullmatch"),
        (r"[^\s<>]+@[^\s<>]+", "search"),
        (r'"(?:[^"\\]|\\.)*+"|[,]', "search"),
        (r"\{\{.*?\}\}", "search"),
        (r"(?=.*x)a", "search"),
        (r"(?m)^\s*x", "search"),
        (r"(?m)^To:[^\n]*(?:\n[^\n]+)*?\nStatus:", "search"),
        (r"(?:mail)(?: (?:is|mail))* too big", "search"),
    ],
)
def test_an_expression_that_takes_the_square_of_its_text_is_found(
    expression: str, how: str
) -> None:
    assert fault_of(re.compile(expression), how)


@pytest.mark.parametrize(
    ("expression", "how"),
    [
        (r"<[^<>]*>", "search"),
        (r"[ \t]+", "search"),
        (r"[a-z]+", "fullmatch"),
        (r"\A\s*x", "search"),
        (r"a*b", "match"),
        (r"a*+a*b", "match"),
        (r"(?:[^\"\\]|\\.)*\"", "match"),
        (r"(?<![a-z])[a-z]+@", "search"),
        (r"(?m)^[a-z]*:", "search"),
        (r"\d{1,3}x", "search"),
        (r"(?m)^([!-9;-~]+)[ \t]*:(.*(?:\n[ \t].*)*)", "search"),
    ],
)
def test_an_expression_that_goes_through_its_text_once_is_let_be(expression: str, how: str) -> None:
    assert fault_of(re.compile(expression), how) is None


def test_no_expression_takes_longer_than_its_text_is_long() -> None:
    faults = dict(_faults())

    assert {where: why for where, why in faults.items() if where not in LINEAR_ALL_THE_SAME} == {}
    assert sorted(LINEAR_ALL_THE_SAME) == sorted(faults), "what is linear by now needs no excuse"


def test_an_expression_that_is_put_together_in_a_function_says_of_what() -> None:
    made = {
        (module, function)
        for module, tree in modules().items()
        for function, call in _calls(tree)
        if function and not isinstance(call.args[0], ast.Constant)
    }

    assert made == set(MADE_WHILE_RUNNING)


def _faults() -> Iterator[tuple[Where, str]]:
    uses = {module: _uses(tree) for module, tree in modules().items()}
    for module, tree in modules().items():
        for name, pattern in _held(module):
            private = uses[module].get(name, set())
            everywhere = {use for one in uses.values() for use in one.get(name, ())}
            how = _how(private if name.startswith("_") else everywhere)
            if fault := fault_of(pattern, how):
                yield (module, name), str(fault)
        for function, call in _calls(tree):
            first = call.args[0]
            if function and isinstance(first, ast.Constant):
                assert isinstance(call.func, ast.Attribute)
                how = _how({call.func.attr})
                if fault := fault_of(re.compile(first.value, _flags(call)), how):
                    yield (module, function), str(fault)


def _held(module: str) -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    """Yield the expressions of a module, also those in its tables."""
    for name, value in vars(importlib.import_module(module)).items():
        values = value.values() if isinstance(value, dict) else value
        for each in values if isinstance(value, dict | tuple | list) else (value,):
            for one in each if isinstance(each, tuple) else (each,):
                if isinstance(one, re.Pattern):
                    yield name, one


def _uses(tree: ast.Module) -> dict[str, set[str]]:
    """Return the methods by which a name is used."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS:
            match node.value:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    found.setdefault(name, set()).add(node.attr)
    return found


def _how(methods: set[str]) -> str:
    if not methods or methods - set(_FROM_BEGINNING):
        return "search"
    return "match" if "match" in methods else "fullmatch"


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call of `re` with the function it stands in, "" for the module."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        function, node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                function = name
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr)) as call:
                if attr in (*_METHODS, "compile"):
                    yield function, call
        waiting += [(function, child) for child in ast.iter_child_nodes(node)]


def _flags(call: ast.Call) -> int:
    """Return the flags of a call that names them, and nothing else besides."""
    names = [node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)]
    return sum(
        getattr(re, name) for name in {*names} if isinstance(getattr(re, name, None), re.RegexFlag)
    )
