"""The project's files, and the imports of its modules, for the rules."""

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mailqueue"
_NOT_OURS = {".venv", ".git", "__pycache__", "node_modules", "build", "dist"}
_CACHES = (".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis")


@dataclass(frozen=True, slots=True)
class Import:
    """One import: who imports what, and where in the file it stands."""

    module: str  # mailqueue.db.pool
    imported: str  # mailqueue.core.errors, psycopg.errors
    line: int
    is_at_top: bool

    @property
    def where(self) -> str:
        return f"{self.module}:{self.line}"


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Return every file of the project with one of these suffixes; "" means files without any."""
    return tuple(path for path in _walk(ROOT) if path.suffix in suffixes)


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _NOT_OURS or path.name in _CACHES or path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module of the package, by its dotted name."""
    return {_dotted(path): parsed(path) for path in files(".py") if PACKAGE in path.parents}


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file; callers do not change it.

    It lives as long as the run: Python's search for garbage leaves it out, which would take longer
    than the parsing.
    """
    text = path.read_text("utf-8")
    gc.disable()
    try:
        tree = ast.parse(text, filename=str(path))
        gc.freeze()
    finally:
        gc.enable()
    return tree


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement of a module, without the expressions in it."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, block, None)
            if isinstance(inner, list):  # that of a lambda is an expression
                left.extend(inner)


def imports_of(module: str, tree: ast.Module, known: frozenset[str]) -> Iterator[Import]:
    """Yield what a module imports; `from package import name` counts as the module it names."""
    top = {id(node) for node in tree.body}
    for node in statements(tree):
        is_at_top = id(node) in top
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, is_at_top)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                imported = full if full in known else node.module
                yield Import(module, imported, node.lineno, is_at_top)


@cache
def all_imports() -> tuple[Import, ...]:
    """Return every import of every module of the package."""
    known = frozenset(modules())
    return tuple(each for name, tree in modules().items() for each in imports_of(name, tree, known))


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
