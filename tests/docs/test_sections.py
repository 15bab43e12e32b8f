"""Sections of the documentation have content, and a page says nothing twice."""

from collections import Counter
from pathlib import Path

from tests.docs.reading import name_of, pages

LONG = 40
"""Characters of a line from which it says something of its own."""


def prose(page: Path) -> list[str]:
    """Return the lines of a page that are not empty and not code."""
    lines: list[str] = []
    is_code = False
    for line in page.read_text("utf-8").splitlines():
        if line.strip().startswith("```"):
            is_code = not is_code
            lines.append("code")
        elif line.strip() and not is_code:
            lines.append(line.strip())
    return lines


def level(line: str) -> int:
    """Return the level of a heading; 0 for other lines."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if line[marks : marks + 1] == " " else 0


def empty_sections(lines: list[str]) -> list[str]:
    """Return the headings that the next heading follows, unless it is that of a part of theirs."""
    return [
        line
        for line, below in zip(lines, [*lines[1:], "# end"], strict=True)
        if level(line) and 0 < level(below) <= level(line)
    ]


def repeated(lines: list[str]) -> list[str]:
    """Return the long lines that occur more than once; rows of tables may."""
    counts = Counter(line for line in lines if len(line) >= LONG and not line.startswith("|"))
    return [line for line, count in counts.items() if count > 1]


def test_every_section_has_content() -> None:
    empty = [
        f"{name_of(page)}: {heading}" for page in pages() for heading in empty_sections(prose(page))
    ]

    assert empty == [], "\n".join(empty)


def test_no_page_says_a_line_twice() -> None:
    twice = [f"{name_of(page)}: {line}" for page in pages() for line in repeated(prose(page))]

    assert twice == [], "\n".join(twice)


def test_an_empty_section_and_a_repeated_line_are_found() -> None:
    line = "Rates are those of the key and its project, as everywhere."

    assert empty_sections(["# A", "## B", "### C", "## D", line, "# E"]) == ["### C", "# E"]
    assert repeated([line, "# A", line]) == [line]
