"""Folders instead of prefixes, few files in each, standard terms, plain docstrings."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest

from tests.rules.source import PACKAGE, ROOT, files, parsed

MAX_FILES = 25
"""Code files in one folder. Migrations and decisions are lists, not folders of code."""

_FREE = ("sql/migrations", "docs/decisions", "tests/upgrade/recorded")
_CODE = (".py", ".sql")

# Words that stood for parts of the machine, and what is said instead.
INSTEAD_OF: Mapping[str, str] = {
    "courier": "send worker",
    "scribe": "settler",
    "parcel": "loaded email",
    "undressed": "message before tracking is injected",
    "dresser": "tracking injector",
    "doorbell": "wake-up",
    "lifeline": "heartbeat",
    "chamber": "compile process",
    "stencil": "compiled template",
    "ownserver": "custom SMTP queue",
    "estrange": "mark unresponsive",
}
_PICTURES = re.compile(rf"(?i)(?<![a-z])(?:{'|'.join(INSTEAD_OF)})(?:s|es|d)?(?![a-z])")
_SERVERS = re.compile(r"\bCourier, OpenSMTPD\b")  # mail servers by these names

# Words that leave open which role, process or person is meant, in comments of SQL.
VAGUE: Mapping[str, str] = {
    "nobody": "no worker, no recipient, no role",
    "somebody": "a worker, an operator, a person",
    "everybody": "all roles, all transactions",
    "whoever": "the caller, the role, the transaction that",
    "hears": "receives",
    "tells": "reports",
}
_VAGUE = re.compile(rf"(?i)\b(?:{'|'.join(VAGUE)})\b")
_COMMENT_OF_SQL = re.compile(r"(?m)--.*$|^COMMENT ON [^;]*;")
_ELSEWHERE = ("sql/migrations",)  # applied files
# Names of functions and statements end in what they return, not in how it came about.
_RIDDLES = re.compile(
    r"mailqueue\.(\w+_(?:told|said|anew))\(|^-- name: (\w+_(?:told|said|anew)) ", re.M
)

# First words of docstrings: a function returns or yields, it does not give, say or tell.
_VERBS = re.compile(r"(?:Give|Gives|Say|Says|Tell whether|Tells whether)\b")
_LARGEST = re.compile(r"\bMOST_[A-Z]")

# Pronouns that withhold the noun: say caller, client, process, recipient, operator.
# In backticks `nobody` is a login of the system.
_WITHHELD = re.compile(
    r"(?<!`)\b(?:[Nn]obody|[Ss]omebody|[Aa]nybody|[Ee]verybody|[Ww]hoever)\b(?![`@])"
)


def prefixed(paths: Iterable[PurePosixPath]) -> list[str]:
    """Return the files whose name begins with the name of a file or folder beside them."""
    names: dict[PurePosixPath, set[str]] = {}
    code = [path for path in paths if path.suffix in _CODE]
    for path in code:
        names.setdefault(path.parent, set()).add(_stem(path))
        for child, parent in zip(path.parents, list(path.parents)[1:], strict=False):
            names.setdefault(parent, set()).add(child.name)
    return sorted(
        str(path)
        for path in code
        if any(before in names[path.parent] for before in _prefixes(_stem(path)))
    )


def crowded(paths: Iterable[PurePosixPath]) -> list[str]:
    """Return the folders with more than MAX_FILES code files, and how many they hold."""
    counted = Counter(
        path.parent for path in paths if path.suffix in _CODE and path.name != "__init__.py"
    )
    return sorted(f"{folder}: {count}" for folder, count in counted.items() if count > MAX_FILES)


def _prefixes(stem: str) -> Iterator[str]:
    parts = stem.split("_")
    return ("_".join(parts[:place]) for place in range(1, len(parts)))


def _stem(path: PurePosixPath) -> str:
    return path.stem.removeprefix("test_")


def _ours() -> list[PurePosixPath]:
    found = (PurePosixPath(path.relative_to(ROOT).as_posix()) for path in files(*_CODE))
    return [
        path
        for path in found
        if path.parts[0] in ("mailqueue", "sql", "tests", "workers")
        and not str(path).startswith(_FREE)
    ]


def misworded(tree: ast.Module) -> list[str]:
    """Return the docstrings that begin with a verb of _VERBS, by the name of their function."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("test_")
        and _VERBS.match(ast.get_docstring(node) or "")
    ]


def withheld(tree: ast.Module) -> list[str]:
    """Return the words of _WITHHELD in docstrings, those of fields too, and in names of tests."""
    texts = (
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    promises = (
        node.name.replace("_", " ").replace(" nobodys ", " nobody ")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )
    return [found[0].lower() for text in (*texts, *promises) for found in _WITHHELD.finditer(text)]


def pictures(text: str) -> list[str]:
    """Return the words of INSTEAD_OF that stand in a text."""
    return sorted({found[0].lower() for found in _PICTURES.finditer(_SERVERS.sub("", text))})


def vague(text: str) -> list[str]:
    """Return the words of VAGUE in the comments of a text of SQL."""
    comments = (found[0] for found in _COMMENT_OF_SQL.finditer(text))
    return sorted({word.lower() for each in comments for word in _VAGUE.findall(each)})


def riddles(text: str) -> list[str]:
    """Return the functions and statements with a name of _RIDDLES in a text of SQL."""
    return sorted({found[1] or found[2] for found in _RIDDLES.finditer(text)})


def _sql() -> Iterator[tuple[Path, str]]:
    """Yield the files of SQL, without those of _ELSEWHERE."""
    for path in files(".sql"):
        place = path.relative_to(ROOT).as_posix()
        if place.startswith("sql/") and not place.startswith(_ELSEWHERE):
            yield path, path.read_text("utf-8")


def _texts() -> Iterator[tuple[Path, str]]:
    """Yield the files that people read to understand the product."""
    sql = ("functions", "views", "queries", "inspect")
    folders = (PACKAGE, ROOT / "docs", *(ROOT / "sql" / folder for folder in sql))
    for path in files(".py", ".sql", ".md"):
        is_decision = "decisions" in path.parts  # says what was decided, in the words of its day
        if not is_decision and any(folder in path.parents for folder in folders):
            yield path, path.read_text("utf-8")


def test_no_name_of_a_file_repeats_that_of_a_file_or_folder_beside_it() -> None:
    assert prefixed(_ours()) == []


def test_no_folder_of_code_is_crowded() -> None:
    assert crowded(_ours()) == []


def test_docstrings_begin_with_what_is_returned() -> None:
    found = {path.relative_to(ROOT).as_posix(): misworded(parsed(path)) for path in files(".py")}

    assert {path: names for path, names in found.items() if names} == {}


def test_docstrings_name_their_nouns() -> None:
    found = {path.relative_to(ROOT).as_posix(): withheld(parsed(path)) for path in files(".py")}

    assert found
    assert {path: words for path, words in found.items() if words} == {}


def test_parts_have_the_words_of_the_field() -> None:
    found = {path.relative_to(ROOT).as_posix(): pictures(text) for path, text in _texts()}

    assert {path: words for path, words in found.items() if words} == {}, INSTEAD_OF


def test_comments_of_sql_name_who_is_meant() -> None:
    found = {path.relative_to(ROOT).as_posix(): vague(text) for path, text in _sql()}

    assert {path: words for path, words in found.items() if words} == {}, VAGUE


def test_functions_and_statements_have_plain_names() -> None:
    dropped = re.compile(r"(?m)^DROP FUNCTION .*$|^CREATE OR REPLACE TRIGGER .*$")
    found = {
        path.relative_to(ROOT).as_posix(): riddles(dropped.sub("", text)) for path, text in _sql()
    }

    assert {path: names for path, names in found.items() if names} == {}


def test_bounds_are_called_max() -> None:
    found = [path.relative_to(ROOT).as_posix() for path, text in _texts() if _LARGEST.search(text)]

    assert found == []


@pytest.mark.parametrize(
    "paths",
    [
        ("mailqueue/cli/sender.py", "mailqueue/cli/sender_add.py"),
        ("mailqueue/cli/sender/add.py", "mailqueue/cli/sender_health.py"),
        ("tests/mail/test_accept.py", "tests/mail/test_accept_once.py"),
        ("sql/functions/operate.sql", "sql/functions/operate_one.sql"),
    ],
)
def test_a_prefix_is_found(paths: tuple[str, str]) -> None:
    assert prefixed(map(PurePosixPath, paths)) == [paths[1]]


def test_a_crowded_folder_is_found() -> None:
    paths = [PurePosixPath(f"mailqueue/x/file{number}.py") for number in range(MAX_FILES + 1)]

    assert crowded(paths) == [f"mailqueue/x: {MAX_FILES + 1}"]
    assert crowded(paths[1:]) == []


def test_a_docstring_of_another_kind_is_found() -> None:
    source = 'def found():\n    """Give it."""\n\ndef fine():\n    """Return it, given one."""\n'

    assert misworded(ast.parse(source)) == ["found"]


def test_a_withheld_noun_is_found() -> None:
    source = 'LIMIT = 3\n"""Whoever waits."""\n\ndef fine():\n    """Return 1."""\n'

    assert withheld(ast.parse(source)) == ["whoever"]
    assert withheld(ast.parse("def test_a_row_stops_nobody(): ...")) == ["nobody"]


def test_a_picture_is_found() -> None:
    assert pictures("class Courier: ...  # two parcels") == ["courier", "parcels"]
    assert pictures("a describer and a scribed line") == ["scribed"]


def test_a_vague_comment_is_found() -> None:
    text = "SELECT 'nobody'; -- Whoever asks\nCOMMENT ON TABLE t IS\n    'What everybody reads.';\n"

    assert vague(text) == ["everybody", "whoever"]


def test_a_riddle_of_a_name_is_found() -> None:
    text = "-- name: find_said :one\nSELECT mailqueue.instant_said('x'), mailqueue.said_before();"

    assert riddles(text) == ["find_said", "instant_said"]
