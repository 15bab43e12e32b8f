"""The table of requests on the page of each compatible API.

`python -m tests.clients.requested --write` writes it again after a change of an API.
"""

import re
import sys
from pathlib import Path

from mailqueue.api.compat.model import CompatApi
from mailqueue.api.table import SHAPES
from tests.clients.operations import share_of

FOLDER = Path(__file__).parents[2] / "docs" / "clients"
HEADING = "## Requests\n"
_SHARE = r"(\nOf the .* are here\.\n)?"
_TABLE = re.compile(rf"(?<={re.escape(HEADING)}\n)(\|.*\n)+{_SHARE}", re.MULTILINE)


def table_of(shape: CompatApi) -> str:
    """Return the table of the requests that an API answers, and the share of a library's calls."""
    rows = ["| Request | Does | Scope |", "|---|---|---|"]
    for each in shape.endpoints:
        scope = "" if each.scope is None else f"`{each.scope}`"
        rows.append(f"| `{each.method} {each.path}` | {each.summary} | {scope} |")
    share = share_of(shape)
    return "\n".join(rows) + "\n" + (f"\n{share}" if share else "")


def page_of(shape: CompatApi) -> Path:
    """Return the page of an API."""
    return FOLDER / f"{shape.name}.md"


def shown_on(text: str) -> str:
    """Return the table of a page; empty where it has none. Pure."""
    found = _TABLE.search(text)
    return "" if found is None else found[0]


def main() -> None:
    """Write the table of each page."""
    for shape in SHAPES:
        page = page_of(shape)
        text = page.read_text("utf-8")
        page.write_text(text.replace(shown_on(text), table_of(shape)), "utf-8")


if __name__ == "__main__" and "--write" in sys.argv:
    main()
