"""Programs decide by the code of a refusal, never by its words."""

import ast
import re
from collections.abc import Iterator

from mailqueue.core.errors import Refusal
from tests.rules.source import PACKAGE, ROOT, files, modules

# What PostgreSQL and providers say without a code is matched where it comes in.
OF_OTHERS = ("mailqueue.db.", "mailqueue.adapters.")
ERRORS = {"exc", "error", "fault"}
_IN_SQL = re.compile(r"mailqueue\.refuse\((?:[^;]*?),\s*'([a-z_]+)'\s*\);", re.DOTALL)


def decided_by_words(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that compare the text of an error or look for words in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            if any(_is_text(each) for each in (node.left, *node.comparators)):
                yield node.lineno
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in {"startswith", "endswith"}
            and _is_text(node.func.value)
        ):
            yield node.lineno


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=value, attr="why"):
            return _is_error(value)
        case ast.Call(func=ast.Name(id="str"), args=[only]):
            return _is_error(only)
        case ast.Call(func=ast.Attribute(value=value, attr="lower" | "upper")):
            return _is_text(value)
    return False


def _is_error(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in ERRORS) or (
        isinstance(node, ast.Attribute) and node.attr in ERRORS
    )


def codes_in_sql() -> set[str]:
    """Return the codes that SQL gives refusals."""
    functions = (path for path in files(".sql") if ROOT / "sql" / "functions" in path.parents)
    return {code for path in functions for code in _IN_SQL.findall(path.read_text("utf-8"))}


def test_no_program_decides_by_the_words_of_an_error() -> None:
    assert [
        f"{name}:{line}"
        for name, tree in modules().items()
        if not name.startswith(OF_OTHERS)
        for line in decided_by_words(tree)
    ] == []


def test_every_code_is_declared_and_given() -> None:
    in_python = "".join(
        path.read_text("utf-8") for path in files(".py") if PACKAGE / "mail" in path.parents
    )
    of_python = {one.value for one in Refusal if f"Refusal.{one.name}" in in_python}

    assert codes_in_sql() | of_python == {one.value for one in Refusal}
    assert codes_in_sql() <= {one.value for one in Refusal}


def test_words_by_which_a_program_decides_are_found() -> None:
    source = (
        'a = "x" in exc.why\nb = exc.why == "x"\nc = "x" in str(exc).lower()\n'
        'd = one.fault.why.startswith("x")\ne = exc.code == "x"\nf = reading.why == "x"\n'
    )

    assert sorted(decided_by_words(ast.parse(source))) == [1, 2, 3, 4]
