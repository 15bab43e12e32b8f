"""Makes `mailqueue/client/synchronous` from `mailqueue/client/asynchronous`.

`python -m tests.client.made --write` writes its files anew.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import mailqueue

FOLDER = Path(mailqueue.__file__).parent / "client"
SOURCE, MADE = FOLDER / "asynchronous", FOLDER / "synchronous"
UPDATE = "python -m tests.client.made --write"
_NOTE = (
    f"# Made from mailqueue/client/asynchronous, which is to be changed instead:\n# {UPDATE}\n\n"
)
_NAMES = {
    "Client": "SyncClient",
    "aclose": "close",
    "asyncio": "time",
    "asynchronous": "synchronous",
}


def name_of(name: str) -> str:
    """Return a name of the synchronous client. Pure."""
    if name in _NAMES:
        return _NAMES[name]
    return re.sub(r"^(__)a(enter__|exit__)$|^Async(?=[A-Z])", r"\1\2", name)


def synchronous(text: str) -> str:
    """Return a module without `async` and `await`, in which names are those of the other client.

    Pure. Lines are not formatted.
    """
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type != tokenize.NAME:
            continue
        (row, start), (_, end) = token.start, token.end
        line = lines[row - 1]
        if token.string in ("async", "await"):
            lines[row - 1] = line[:start] + line[end:].removeprefix(" ")
        else:
            lines[row - 1] = line[:start] + name_of(token.string) + line[end:]
    return "".join(lines)


def differing() -> list[str]:
    """Return the names of the files that are not what would be made now."""
    expected = {path.name: synchronous(path.read_text("utf-8")) for path in _sources()}
    found = {path.name: path.read_text("utf-8") for path in MADE.glob("*.py")}
    found.pop("__init__.py")
    return sorted(
        name
        for name in expected.keys() | found.keys()
        if name not in found
        or name not in expected
        or _statements(found[name]) != _statements(expected[name])
    )


def _statements(text: str) -> list[str]:
    """Return the statements of a module, whatever their format, with sorted imports."""
    body = ast.parse(text).body
    imports = sorted(ast.dump(node) for node in body if isinstance(node, ast.ImportFrom))
    return imports + [ast.dump(node) for node in body if not isinstance(node, ast.ImportFrom)]


def _sources() -> list[Path]:
    return [path for path in sorted(SOURCE.glob("*.py")) if path.name != "__init__.py"]


def main() -> None:
    if "--write" in sys.argv[1:]:
        for path in _sources():
            made = _NOTE + synchronous(path.read_text("utf-8"))
            (MADE / path.name).write_text(made, "utf-8")
        ruff = (sys.executable, "-m", "ruff")
        subprocess.run([*ruff, "check", "--quiet", "--select=I", "--fix", str(MADE)], check=True)
        subprocess.run([*ruff, "format", "--quiet", str(MADE)], check=True)
    sys.stdout.writelines(f"{name} differs\n" for name in differing())


if __name__ == "__main__":
    main()
