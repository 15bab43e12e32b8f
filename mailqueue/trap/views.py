"""The views of one message: HTML, text, source and headers. Pure."""

from enum import StrEnum

from mailqueue.mime.parse import ShownMessage

SOURCE_BYTES = 1024 * 1024


class View(StrEnum):
    """A way to look at a message."""

    HTML = "html"
    TEXT = "text"
    SOURCE = "source"
    HEADERS = "headers"


def chosen_view(wanted: str, content: ShownMessage) -> View:
    """Return the view asked for, else the first that has something to show."""
    if wanted in set(View):
        return View(wanted)
    return View.TEXT if content.html is None else View.HTML


def framed(html: str) -> str:
    """Return a mail's HTML for its frame: links open elsewhere, unless it says where itself."""
    return html + '\n<base target="_blank">'


def source_of(raw: bytes) -> str:
    """Return the message as it came, the first of it where it is large."""
    return raw[:SOURCE_BYTES].decode("utf-8", "replace")
