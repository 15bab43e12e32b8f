"""Limit the work of injecting tracking into one mail. Pure."""

from mailqueue.mime.skeleton import MessageContent

INJECTING = 400_000
"""Most units of work of a mail; a unit takes about half a microsecond. An email of 500 kB with 300
links takes about 60,000.
"""
_CHARACTERS_A_UNIT = 5  # as a shift
_UNITS_AN_ENTITY = 3
_UNITS_A_LINK = 15
_UNITS_A_PLACEHOLDER = 15


def work_of(content: MessageContent) -> int:
    """Return the units of work of injecting tracking: by characters, tags, entities and links."""
    html, text = content.html or "", content.text or ""
    units = (len(html) + len(text)) >> _CHARACTERS_A_UNIT
    if units > INJECTING:  # not read any further
        return units
    units += html.count("<") + _UNITS_AN_ENTITY * html.count("&")
    units += sum(_UNITS_A_PLACEHOLDER * one.count("_url") for one in (html, text))
    return units + _UNITS_A_LINK * html.lower().count("href")


def check_work(content: MessageContent) -> None:
    """Refuse a mail whose tracking takes more work than a mail may.

    Raises:
        ValueError: with its size.
    """
    if (units := work_of(content)) > INJECTING:
        html = content.html or ""
        size = len(html) + len(content.text or "")
        raise ValueError(
            f"adding its tracking and links takes {units} units of work, and an email may take"
            f" {INJECTING}: its bodies have {size} characters"
        )
