"""Parses the documentation: fenced blocks, commands, headings and links of each page."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.rules.source import ROOT

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_COMMENT = re.compile(r"(^|\s+)# .*$", re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
_OF_OURS = ("mailqueue", "./scripts/mailqueue", "scripts/mailqueue")
_COMPOSE = "docker compose run --rm migrate "


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block and its position."""

    page: str  # docs/sending.md
    line: int
    language: str
    text: str

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def pages() -> tuple[Path, ...]:
    """Return the READMEs, the changelog and every page of docs/."""
    top = ("README.md", "CHANGELOG.md", "sql/README.md")
    return (*(ROOT / name for name in top), *sorted((ROOT / "docs").rglob("*.md")))


@cache
def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def blocks(*languages: str) -> tuple[Block, ...]:
    """Return the fenced blocks in one of these languages, page by page."""
    return tuple(
        block for page in pages() for block in _blocks(page) if block.language in languages
    )


def _blocks(page: Path) -> Iterator[Block]:
    text = text_of(page)
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(name_of(page), line, found[2], textwrap.dedent(found[3]))


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", text_of(page))


def spans() -> list[tuple[str, str]]:
    """Return every inline code span, each with its page."""
    return [(name_of(page), span) for page in pages() for span in _SPAN.findall(prose(page))]


def commands() -> list[tuple[str, list[str]]]:
    """Return the arguments of every `mailqueue …` line in a shell block, with its position."""
    return [
        (block.where, arguments)
        for block in blocks("sh", "bash")
        for words in shell_lines(block.text.replace("$MOMENT", "2026-01-31T09:00:00Z"))
        if (arguments := arguments_of(words)) is not None
    ]


def shell_lines(text: str) -> list[list[str]]:
    """Split shell text into words, a list for each command; quotes may span lines."""
    text = _COMMENT.sub("", text).replace("\\\n", " ")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&\n")
    lexer.commenters = ""  # its own would swallow the end of the line
    lexer.whitespace = " \t"
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set(";|&\n"):
            commands.append([])
        else:
            commands[-1].append(word)
    return [words for words in commands if words]


def arguments_of(words: list[str]) -> list[str] | None:
    """Return the arguments of a `mailqueue` command; None for another program."""
    if ">" in words:
        words = words[: words.index(">")]
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0], re.DOTALL):
        words = words[1:]
    compose = _COMPOSE.split()
    if words[: len(compose)] == compose:
        return words[len(compose) :]
    return words[1:] if words and words[0] in _OF_OURS else None


def links(page: Path) -> list[str]:
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the web site has them."""
    headings = _HEADING.findall(prose(page))
    plain = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return {re.sub(r"\s", "-", heading.strip()) for heading in plain}


def column(page: str, *, under: str, place: int = 0) -> list[str]:
    """Return the first code span in each row of the table under a heading, else the whole cell."""
    cells = _cells(page, under, place)
    return [found[1] if (found := _SPAN.search(cell)) else cell.strip() for cell in cells]


def names_in(page: str, *, under: str) -> list[str]:
    """Return every code span in the first column of the table under a heading."""
    return [span for cell in _cells(page, under, 0) for span in _SPAN.findall(cell)]


def _cells(page: str, under: str, place: int) -> list[str]:
    after = text_of(ROOT / page).split(f" {under}\n", 1)[1]
    rows = [line for line in re.split(r"\n#", after)[0].splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)\|", row)[place + 1] for row in rows[2:]]
