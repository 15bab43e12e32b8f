"""The name of a type stands for one thing in the whole package."""

import ast
import re
from collections.abc import Iterator, Mapping

from tests.rules.source import PACKAGE, ROOT, files, parsed

# Names of types that two files declare, and why.
SAME_NAME: Mapping[str, str] = {
    **dict.fromkeys(
        ("Conflict", "Forbidden", "NotFound", "TooManyRequests", "Unauthorized"),
        "the client raises what the server answered, by the same name",
    ),
    "Sent": "the client adds to the value of the API whether it is a repetition",
}
_NAME_OF_TYPE = re.compile(r"[A-Z]\w*[a-z]\w*")


def names_of(tree: ast.Module) -> Iterator[str]:
    """Yield the names of classes, and of types that a module assigns, such as `Rows = list[Row]`.

    A name in capitals is a constant, a TypeVar is no type of its own.
    """
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.Assign) and not _is_type_variable(node.value):
            names = (name.id for name in node.targets if isinstance(name, ast.Name))
            yield from (name for name in names if _NAME_OF_TYPE.fullmatch(name))


def _is_type_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"


def twice(trees: Mapping[str, ast.Module]) -> dict[str, list[str]]:
    """Return the names of types that more than one file declares, and the files."""
    declared: dict[str, set[str]] = {}
    for path, tree in trees.items():
        for name in names_of(tree):
            declared.setdefault(name, set()).add(path)
    return {name: sorted(paths) for name, paths in declared.items() if len(paths) > 1}


def test_the_name_of_a_type_stands_for_one_thing() -> None:
    paths = [path for path in files(".py") if PACKAGE in path.parents]
    found = twice({path.relative_to(ROOT).as_posix(): parsed(path) for path in paths})

    assert paths
    assert {name: paths for name, paths in found.items() if name not in SAME_NAME} == {}
    assert SAME_NAME.keys() <= found.keys(), "an exception that is not needed"


def test_a_name_of_two_types_is_found() -> None:
    trees = {
        "a.py": ast.parse("class Kind: ...\nRows = list[int]\nT = TypeVar('T')\nMAX = 3\n"),
        "b.py": ast.parse("class A:\n    class Kind: ...\nRows: list[int]\nMAX = 3\n"),
        "c.py": ast.parse("Rows = list[str]\nRow = TypeVar('Row')\n"),
        "d.py": ast.parse("Row = TypeVar('Row')\n"),
    }

    assert twice(trees) == {"Kind": ["a.py", "b.py"], "Rows": ["a.py", "c.py"]}
