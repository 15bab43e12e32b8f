"""The views of one message: HTML, text, source and headers. Pure."""

from enum import StrEnum

from mailqueue.mime.parse import ShownMessage

SOURCE_BYTES = 1024 * 1024


class View(StrEnum):
    """A view of a message."""

    HTML = "html"
    TEXT = "text"
    SOURCE = "source"
    HEADERS = "headers"


def chosen_view(name: str, content: ShownMessage) -> View:
    """Return the requested view, else the first with content."""
    if name in set(View):
        return View(name)
    return View.TEXT if content.html is None else View.HTML


def source_of(raw: bytes) -> str:
    """Return the source of a message, cut if it is large."""
    return raw[:SOURCE_BYTES].decode("utf-8", "replace")
