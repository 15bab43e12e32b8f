"""What is kept for processes of another release says until which release, and goes in time."""

import re
from itertools import chain

import mailqueue
from mailqueue.db.sql import sql_folder

KEPT = re.compile(
    r"release before|(?:earlier|previous|former) (?:release|version)|deprecated", re.I
)
UNTIL = re.compile(r"until release (\d+)\.(\d+)\.(\d+)")
PLACES = ("functions", "views", "comments", "grants", "queries")
OF_ANY_RELEASE = {
    "functions/locks/leases.sql": "runners without leases are refused, whichever release they have",
    "functions/projects/projects.sql": "counts of a database that had no bounds yet",
}


def kept(texts: dict[str, str], version: tuple[int, ...]) -> list[str]:
    """Return lines that keep something without saying until when, or longer than they say."""
    found = []
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            until = UNTIL.search(line)
            if KEPT.search(line) and (
                until is None or tuple(int(part) for part in until.groups()) <= version
            ):
                found.append(f"{name}:{number}: {line.strip()}")
    return found


def applied() -> dict[str, str]:
    """Return the files that are applied whenever one of them changes, and statements."""
    folder = sql_folder()
    paths = chain.from_iterable((folder / place).rglob("*.sql") for place in PLACES)
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in sorted(paths)}


def test_what_is_kept_for_another_release_is_due_in_a_later_one() -> None:
    version = tuple(int(part) for part in mailqueue.__version__.split(".")[:3])
    texts = {name: text for name, text in applied().items() if name not in OF_ANY_RELEASE}

    assert kept(texts, version) == []


def test_what_is_overdue_is_named() -> None:
    texts = {
        "a.sql": "-- Of the release before, until release 0.3.0.\nSELECT 1;",
        "b.sql": "-- Its name in an earlier release.",
    }

    assert kept(texts, (0, 2, 0)) == ["b.sql:1: -- Its name in an earlier release."]
    assert len(kept(texts, (0, 3, 0))) == 2


def test_functions_are_dropped_by_migrations_alone() -> None:
    """Their files are applied again and again: a drop there is forgotten, or drops what is used."""
    found = [
        f"{name}: {statement}"
        for name, text in applied().items()
        if name.startswith("functions/")
        for statement in re.findall(r"^(?:DROP FUNCTION|CREATE FUNCTION).*", text, re.M)
    ]

    assert found == []
