"""Decides what the HTML of a mail says to those who read text only. Pure."""

WIDTH = 76
_HIDDEN = '[hidden], [style*="display:none"], [style*="display: none"]'
_UNSEEN = f"head, style, script, template, {_HIDDEN}"


def text_of(html: str) -> str:
    """Return HTML as text: what is hidden left out, links as footnotes, pictures by their words."""
    # Imported when it is wanted: it takes longer than all else a command starts with.
    from turbohtml import PlainText, parse

    document = parse(html)
    for element in document.select(_UNSEEN):
        element.decompose()
    layout = PlainText(links="footnote", width=WIDTH, images=True)
    return document.to_text(layout).strip() + "\n"
