"""Convert the HTML of a mail to plain text. Pure."""

import re

WIDTH = 76
_HIDDEN = '[hidden], [style*="display:none"], [style*="display: none"]'
_UNSEEN = f"head, style, script, template, {_HIDDEN}"
# Styles by which text is in a mail but not seen, without spaces.
_HIDING = re.compile(
    r"display:none|visibility:(hidden|collapse)|mso-hide:all|opacity:0(\.0+)?(;|$|!)"
    r"|(font-size|line-height|max-height|max-width):0(\.0+)?(px|pt|em|rem|%)?(;|$|!)"
)


def text_of(html: str) -> str:
    """Return HTML as text: hidden elements left out, links as footnotes, pictures by their alt
    text.
    """
    # Imported on use: this import takes longer than all others of a command.
    from turbohtml import PlainText, parse

    document = parse(html)
    for element in document.select(_UNSEEN):
        element.decompose()
    layout = PlainText(links="footnote", width=WIDTH, images=True)
    return document.to_text(layout).strip() + "\n"


def visible_text_of(html: str, *, without: str) -> str:
    """Return the text of HTML that its reader sees, on lines of any length and without targets of
    links; elements that match the selector `without` are left out.
    """
    from turbohtml import PlainText, parse

    document = parse(html)
    for element in document.select(f"{_UNSEEN}, {without}"):
        element.decompose()
    for element in document.select("[style]"):
        if _HIDING.search(_squeezed(str(element.attrs.get("style") or ""))):
            element.decompose()
    return document.to_text(PlainText(links="none", width=0, images=False))


def _squeezed(style: str) -> str:
    """Return a style in lower case without white space and comments."""
    kept, *commented = style.split("/*")
    kept += "".join(part.partition("*/")[2] for part in commented)
    return "".join(kept.split()).lower()
