"""Convert the HTML of a mail to plain text. Pure."""

WIDTH = 76
_HIDDEN = '[hidden], [style*="display:none"], [style*="display: none"]'
_UNSEEN = f"head, style, script, template, {_HIDDEN}"


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
