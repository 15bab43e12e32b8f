"""The operations that published Python libraries have calls for, and how many of them are here.

Read from the source of the installed libraries: Resend's and Postmark's name the path of each call,
Mailgun's in the examples that come with it. SendGrid's has a call for any path: its operations are
listed in a file, as SendGrid describes its API (github.com/twilio/sendgrid-oai, 2026-01-22).
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import mailgun
import postmarker
import resend

from mailqueue.api.compat.model import CompatApi

_VARIABLE = re.compile(r"\{[^{}]*\}|%s|%d|<[^<>/]*>?")
_EXAMPLE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) ((?:/(?:[\w.-]+|<[\w-]+>?|\{[\w-]+\}))+)")
_VERSION = re.compile(r"/v\d/")
_CALLS = ("call", "call_many")
SENDGRID_FILE = Path(__file__).parent / "sendgrid" / "operations.txt"


class Operation(NamedTuple):
    """A method and a path, whose variables are `{}`."""

    method: str
    path: str


def operation(method: str, path: str) -> Operation:
    """Return an operation with all variables alike. Pure."""
    return Operation(method.upper(), _VARIABLE.sub("{}", path).rstrip("/"))


def operations_of_resend() -> set[Operation]:
    """Return the operations of the library `resend`."""
    return {one for tree in _trees(resend.__file__) for one in _of_resend(tree)}


def _of_resend(tree: ast.Module) -> Iterator[Operation]:
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        paths: list[str] = []
        verbs: list[str] = []
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and _names(node) & {"path", "base_path"}:
                paths += _text(node.value)
            if isinstance(node, ast.keyword) and node.arg == "verb":
                verbs += _text(node.value)
        if len(paths) == len(verbs) == 1 and paths[0].startswith("/"):
            yield operation(verbs[0], paths[0])


def operations_of_postmark() -> set[Operation]:
    """Return the operations of the library `postmarker`, without those of other servers."""
    return {
        operation(node.args[0].value, text)
        for tree in _trees(postmarker.__file__)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _CALLS
        and len(node.args) > 1
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
        for text in _text(node.args[1])
    }


def operations_of_mailgun() -> set[Operation]:
    """Return the operations in the examples of the library `mailgun`."""
    folder = Path(mailgun.__file__).parent / "examples"
    return {
        operation(method, path if _VERSION.match(path) else f"/v3{path}")
        for file in sorted(folder.rglob("*.py"))
        for method, path in _EXAMPLE.findall(file.read_text("utf-8"))
        if path.count("/") > 1 or not _VERSION.match(f"{path}/")
    }


def operations_of_sendgrid() -> set[Operation]:
    """Return the operations of SendGrid's description of its API, those of all products."""
    lines = SENDGRID_FILE.read_text("utf-8").splitlines()
    return {operation(*line.split(" ")) for line in lines}


LIBRARIES: dict[str, tuple[str, Callable[[], set[Operation]]]] = {
    "resend": ("calls of Resend's Python library", operations_of_resend),
    "postmark": ("calls of the Python library postmarker", operations_of_postmark),
    "sendgrid": ("operations of all of SendGrid's products", operations_of_sendgrid),
    "mailgun": ("requests in the examples of Mailgun's Python library", operations_of_mailgun),
}


def present_in(shape: CompatApi, wanted: set[Operation]) -> set[Operation]:
    """Return the operations that an API has. Pure."""
    here = {operation(each.method, each.path) for each in shape.endpoints}
    return wanted & here


def share_of(shape: CompatApi) -> str:
    """Return the sentence on how many operations of a library an API has; empty if not counted."""
    if shape.name not in LIBRARIES:
        return ""
    words, operations = LIBRARIES[shape.name]
    wanted = operations()
    return f"Of the {len(wanted)} {words}, {len(present_in(shape, wanted))} are here.\n"


def _trees(file: str) -> Iterator[ast.Module]:
    for each in sorted(Path(file).parent.rglob("*.py")):
        yield ast.parse(each.read_text("utf-8"))


def _names(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def _text(node: ast.expr) -> list[str]:
    """Return the text of a literal, with `{}` in place of what is inserted; else nothing."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(_text(part)[0] if _text(part) else "{}" for part in parts)]
        case ast.BinOp(left=left, op=ast.Mod()):
            return _text(left)
    return []
