"""Decides what the HTML of a mail says to those who read text only. Pure."""

from turbohtml import PlainText, parse

WIDTH = 76
_UNSEEN = (
    'head, style, script, template, [hidden], [style*="display:none"], [style*="display: none"]'
)
_LAYOUT = PlainText(links="footnote", width=WIDTH, images=True)


def text_of(html: str) -> str:
    """Give HTML as text: what is hidden left out, links as footnotes, pictures by their words."""
    document = parse(html)
    for element in document.select(_UNSEEN):
        element.decompose()
    return document.to_text(_LAYOUT).strip() + "\n"
