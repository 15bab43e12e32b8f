"""Files have one idea each, contain nothing of one machine, and pin what they install."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from mailqueue import __version__
from tests.rules.source import PACKAGE, ROOT, files

LONGEST = 300
_TEXT = (
    ".py",
    ".sql",
    ".sh",
    ".md",
    ".toml",
    ".yml",
    ".yaml",
    ".txt",
    ".json",
    ".html",
    ".css",
    "",
)
# Written so that this file does not match itself.
FORBIDDEN = (
    r"/(wor[k]|far[m]|roo[t])/(main|plan|steering|shared|in)\b",
    r"\bpyp[i]\.org|pythonhoste[d]\.org|npmj[s]\.(org|com)",
    r"(?i:\bissu[e] #?\d+\b)",
    r"\b(TOD[O]|FIXM[E]|XX[X])\b",
    r"(?i:generated wit[h] |co-authored-b[y])",
)
# Test data that happens to spell such things may not be excused: change the data.
_UNFINISHED = re.compile(r"NotImplemented[E]rror|pytest\.ski[p]|mark\.(ski[p]|xfai[l])")
_PIN = re.compile(r"^([A-Za-z0-9._-]+(?:\[[^\]]*\])?)==([^ \\;]+)", re.MULTILINE)


def lines_over(paths: Iterable[Path], longest: int) -> list[str]:
    """Return the files with more lines than that."""
    counted = [(path, path.read_text("utf-8").count("\n")) for path in paths]
    return [f"{path.name} has {lines} lines" for path, lines in counted if lines > longest]


def matches(text: str, patterns: Iterable[str]) -> list[str]:
    """Return the lines in which one of the patterns is found."""
    found = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    return [line.strip() for line in text.splitlines() if found.search(line)]


def test_no_file_has_two_ideas_in_it() -> None:
    scripts = [path for path in files("") if path.parent.name in ("scripts", ".ci")]

    assert lines_over([*files(".py", ".sh"), *scripts], LONGEST) == []
    assert lines_over((ROOT / "sql").glob("**/*.sql"), LONGEST) == []


def test_nothing_names_a_machine_a_registry_or_unfinished_work() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in files(*_TEXT)
        if (lines := matches(_read(path), FORBIDDEN))
    }

    assert found == {}


def test_nothing_is_a_stub_and_no_test_is_skipped() -> None:
    found = [path.name for path in files(".py") if _UNFINISHED.search(_read(path))]

    assert found == []


def test_nothing_is_named_for_its_kind() -> None:
    kinds = re.compile(r"(^|_)(utils?|helpers?|common|manager|misc)(_|$|\d)")

    assert [path for path in files(".py") if kinds.search(path.stem)] == []


def test_every_package_says_what_it_is_in_one_line_or_nothing() -> None:
    # What other people's programs import.
    public = {PACKAGE / name / "__init__.py" for name in ("client", "testing")}
    for path in {*PACKAGE.glob("*/**/__init__.py")} - public:
        assert len(_read(path).splitlines()) <= 1, path


def test_the_package_has_the_version_it_is_built_with() -> None:
    built = tomllib.loads(_read(ROOT / "pyproject.toml"))["project"]["version"]

    assert __version__ == built


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {path.parent for path in files(".py") if PACKAGE in path.parents}

    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_developing_installs_exactly_what_running_does_and_more() -> None:
    runtime, dev = (_pins(ROOT / "requirements" / f"{name}.txt") for name in ("runtime", "dev"))

    assert runtime
    assert runtime <= dev


def test_every_pinned_version_carries_hashes() -> None:
    for name in ("runtime", "dev"):
        text = _read(ROOT / "requirements" / f"{name}.txt")
        entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize(
    "text",
    [
        "see /wor" + "k/main/x.py",
        "from https://pyp" + "i.org/simple",
        "as Issu" + "e #12 says",
        "# TOD" + "O later",
        "Co-Authored-B" + "y: nobody",
    ],
)
def test_forbidden_words_are_found(text: str) -> None:
    assert matches(f"fine\n{text}\n", FORBIDDEN) == [text]


def test_a_file_that_grew_too_long_is_found(tmp_path: Path) -> None:
    long = tmp_path / "long.py"
    long.write_text("x = 1\n" * 301)

    assert lines_over([long], LONGEST) == ["long.py has 301 lines"]


def _pins(path: Path) -> set[tuple[str, str]]:
    return {(found[1], found[2]) for found in _PIN.finditer(_read(path))}


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")
