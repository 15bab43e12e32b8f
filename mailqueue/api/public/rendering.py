"""Render the pages for people: no script, nothing of another host, the project's design."""

import secrets
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from uuid import UUID

from starlette.responses import Response

from mailqueue.api.public.wording import WORDS, PageTexts
from mailqueue.templates.pictures.model import PATH as PICTURES_PATH
from mailqueue.web.rendering import environment
from mailqueue.web.security_headers import content_policy, security_headers

DEFAULT_COLOR = "#9c3d22"
_HERE = Path(__file__).parent
_DARK, _LIGHT = "#000000", "#ffffff"


@dataclass(frozen=True, slots=True)
class Design:
    """What a project chose for its pages: a color, and the token of the URL of its logo."""

    color: str | None = None
    logo: UUID | None = None


PLAIN = Design()
"""The design of pages of no project."""


@dataclass(frozen=True, slots=True)
class Brand:
    """Colors of a project's pages, as CSS writes them."""

    color: str
    on_color: str  # of text on it


def brand_of(color: str | None) -> Brand:
    """Return a color, and black or white for text on it, whichever has the higher contrast. Pure.

    Contrast and luminance are those of WCAG 2.2, 1.4.3; one of the two is always above 4.5.
    """
    color = color or DEFAULT_COLOR
    channels = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels
    )
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    on_color = _LIGHT if 1.05 / (bright + 0.05) >= (bright + 0.05) / 0.05 else _DARK
    return Brand(color, on_color)


def page(
    template: str,
    *,
    words: PageTexts,
    design: Design = PLAIN,
    status: HTTPStatus = HTTPStatus.OK,
    **values: object,
) -> Response:
    """Return a page that no cache stores, and whose links send no Referer: its path is a secret."""
    nonce = secrets.token_urlsafe(16)
    content = _TEMPLATES.get_template(f"public/{template}").render(
        values
        | {
            "words": words,
            "all_words": WORDS,
            "brand": brand_of(design.color),
            "logo": None if design.logo is None else f"{PICTURES_PATH}{design.logo.hex}",
            "nonce": nonce,
        }
    )
    policy = {"style-src": f"'nonce-{nonce}'"}
    if design.logo is not None:
        policy["img-src"] = "'self'"
    headers = {
        **_HEADERS,
        "Content-Security-Policy": content_policy(policy),
        "Content-Language": words.tag,
    }
    return Response(content, status, headers, "text/html; charset=utf-8")


def plain(name: str, *, words: PageTexts) -> Response:
    """Return one of the texts by itself, for programs, with the headers of a page."""
    headers = {**_HEADERS, "Content-Language": words.tag}
    return Response(words[name] + "\n", HTTPStatus.OK, headers, "text/plain; charset=utf-8")


_TEMPLATES = environment({"public": _HERE / "templates"})
_HEADERS = security_headers(
    {},
    Referrer_Policy="no-referrer",  # the path contains the token
    X_Robots_Tag="noindex, nofollow",
    Vary="Accept-Language",
)
