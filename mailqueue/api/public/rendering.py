"""Turns values into pages for people: no script, nothing from elsewhere, their project's colour."""

import secrets
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from mailqueue.api.public.wording import WORDS, Words

OURS = "#9c3d22"
_HERE = Path(__file__).parent
_DARK, _LIGHT = "#000000", "#ffffff"


@dataclass(frozen=True, slots=True)
class Brand:
    """What a project's pages look like; both colours are as CSS writes them."""

    color: str
    on_color: str  # words on it


def brand_of(color: str | None) -> Brand:
    """Return a colour and the one words on it are read best in (WCAG 2.2, 1.4.3). Pure."""
    color = color or OURS
    bright = _luminance(color)
    # One of them is always above 4.5.
    on_color = _LIGHT if 1.05 / (bright + 0.05) >= (bright + 0.05) / 0.05 else _DARK
    return Brand(color, on_color)


def page(
    template: str,
    *,
    words: Words,
    color: str | None = None,
    status: HTTPStatus = HTTPStatus.OK,
    **values: object,
) -> Response:
    """Answer with a page that is kept nowhere and tells nobody where it is."""
    nonce = secrets.token_urlsafe(16)
    content = _TEMPLATES.get_template(template).render(
        values | {"words": words, "all_words": WORDS, "brand": brand_of(color), "nonce": nonce}
    )
    return Response(content, status, _headers(nonce, words), "text/html; charset=utf-8")


def _headers(nonce: str, words: Words) -> dict[str, str]:
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self'; "
            "base-uri 'none'; frame-ancestors 'none'"
        ),
        "Content-Language": words.tag,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",  # the path is what opens it
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex, nofollow",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Vary": "Accept-Language",
    }


def _luminance(color: str) -> float:
    """Return the relative luminance of #rrggbb (WCAG 2.2)."""
    channels = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


_TEMPLATES = _environment()
