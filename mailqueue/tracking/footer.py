"""The footer of marketing mail: the sender's postal address, and an unsubscribe link. Pure.

The CAN-SPAM Act (15 U.S.C. 7704 (a)(5)) requires both in commercial mail.
"""

import re
from html import escape
from typing import NamedTuple

from mailqueue.core.entities import unescaped
from mailqueue.tracking.rewriting import is_leaving, with_at_end

_LINKS = re.compile(r"""href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")
_GAPS = re.compile(r"[\s,;|\u00b7\u2022]+")
_STYLE = (
    "margin:24px 0 0;padding:12px 0;font:12px/1.5 Arial,Helvetica,sans-serif;"
    "color:#595959;text-align:center"
)
_WORDS = {
    "ar": "إلغاء الاشتراك",
    "de": "Abmelden",
    "en": "Unsubscribe",
    "es": "Darse de baja",
    "fr": "Se désabonner",
    "he": "ביטול הרשמה",
    "it": "Annulla iscrizione",
    "nl": "Afmelden",
    "pl": "Wypisz się",
    "pt": "Cancelar inscrição",
}


class Footer(NamedTuple):
    """What a mail has to contain; None: nothing of that kind."""

    postal_address: str | None
    unsubscribe_url: str | None
    language: str = "en"

    @property
    def word(self) -> str:
        """Return the text of the link."""
        return _WORDS.get(self.language.partition("-")[0].lower(), _WORDS["en"])


def under_html(html: str, footer: Footer) -> str:
    """Return HTML with the parts of the footer that it does not contain yet."""
    lines = []
    if footer.postal_address and not _says(_shown(html, footer.postal_address), footer):
        lines.append("<br>".join(escape(line) for line in _lines(footer.postal_address)))
    if footer.unsubscribe_url and not _html_leaves(html, footer.unsubscribe_url):
        href = escape(footer.unsubscribe_url)
        lines.append(f'<a href="{href}" style="color:#595959">{escape(footer.word)}</a>')
    if not lines:
        return html
    return with_at_end(html, f'<div style="{_STYLE}">{"<br>".join(lines)}</div>')


def under_text(text: str, footer: Footer) -> str:
    """Return a text with the parts of the footer that it does not contain yet."""
    lines = []
    if footer.postal_address and not _says(text, footer):
        lines += _lines(footer.postal_address)
    if footer.unsubscribe_url and not _text_leaves(text, footer.unsubscribe_url):
        lines.append(f"{footer.word}: {footer.unsubscribe_url}")
    if not lines:
        return text
    return "{}\n\n-- \n{}\n".format(text.rstrip("\r\n"), "\n".join(lines))


def _html_leaves(html: str, ours: str) -> bool:
    if ours in html:
        return True
    return any(is_leaving("".join(found)) for found in _LINKS.findall(html))


def _text_leaves(text: str, ours: str) -> bool:
    return ours in text or any(
        is_leaving(word) for word in text.split() if word.lower().startswith(("http", "<http"))
    )


def _says(text: str, footer: Footer) -> bool:
    """Return whether a text contains the postal address, whatever its line breaks."""
    return _plain(footer.postal_address or "") in _plain(text)


def _shown(html: str, address: str) -> str:
    # Cheap first: tags are only taken out where the address may be.
    start = _plain(address).partition(" ")[0]
    return unescaped(_TAGS.sub(" ", html)) if start in html.casefold() or "&" in html else ""


def _plain(text: str) -> str:
    return _GAPS.sub(" ", text).strip().casefold()


def _lines(address: str) -> list[str]:
    return [line.strip() for line in address.splitlines() if line.strip()]
