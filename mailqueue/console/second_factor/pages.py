"""The second factor of one's own account: turn it on and off, and make recovery codes."""

import io
from collections.abc import Sequence
from http import HTTPStatus

import segno
from starlette.responses import Response

from mailqueue.admin.users.second_factor.factors import BEGUN_LASTS
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.router import SECOND_FACTOR
from mailqueue.core.errors import Conflict, InvalidField, NotFound, TooManyRequests
from mailqueue.core.secret import Secret
from mailqueue.web.rendering import sentence

BEGIN = f"{SECOND_FACTOR}/begin"
TURN_ON = f"{SECOND_FACTOR}/on"
PICTURE = f"{TURN_ON}/qr"
CODES = f"{SECOND_FACTOR}/codes"
TURN_OFF = f"{SECOND_FACTOR}/off"
_QUIET_MODULES = 4
"""Width of the white border of a QR code (ISO/IEC 18004)."""


async def show(context: PageContext) -> Response:
    """Show whether a second factor is on, and what can be done."""
    _check_password_user(context)
    factor = await context.console.second_factors.find(context.user)
    return context.page("second_factor/show.html", factor=factor)


async def begin(context: PageContext) -> Response:
    """Make a new secret, and lead to the page that shows it."""
    _check_password_user(context)
    await context.console.second_factors.begin(context.user)
    return context.redirect(TURN_ON)


async def show_secret(context: PageContext) -> Response:
    """Show the new secret, as a QR code and as text, and the form of its first code."""
    return await _secret(context)


async def show_picture(context: PageContext) -> Response:
    """Return the QR code of the new secret, for the page that shows it alone."""
    shown = await context.console.second_factors.shown(context.user)
    if shown is None:
        raise NotFound("new secret", "of this session")
    return Response(qr_code(shown.uri), media_type="image/svg+xml")


async def turn_on(context: PageContext) -> Response:
    """Turn the second factor on by its first code; show the recovery codes."""
    try:
        codes = await context.console.second_factors.turn_on(
            context.user, context.form.get("code", "")
        )
    except InvalidField as exc:
        return await _secret(context, sentence(f"this code {exc.why}"), HTTPStatus(422))
    except TooManyRequests as exc:
        return _later(await _secret(context, sentence(str(exc)), HTTPStatus(429)), exc)
    return _codes(context, codes, is_first=True)


async def ask_codes(context: PageContext) -> Response:
    """Show what new recovery codes do."""
    return await _form(context, "codes")


async def renew_codes(context: PageContext) -> Response:
    """Replace the recovery codes; show the new ones."""
    password, code = context.form.get("password", ""), context.form.get("code", "")
    try:
        codes = await context.console.second_factors.renew_codes(context.user, password, code)
    except InvalidField as exc:
        return await _form(context, "codes", sentence(f"this {exc.why}"), HTTPStatus(422))
    except TooManyRequests as exc:
        return _later(await _form(context, "codes", sentence(str(exc)), HTTPStatus(429)), exc)
    return _codes(context, codes, is_first=False)


async def ask_off(context: PageContext) -> Response:
    """Show what turning the second factor off does."""
    return await _form(context, "off")


async def turn_off(context: PageContext) -> Response:
    """Turn the second factor off."""
    password, code = context.form.get("password", ""), context.form.get("code", "")
    try:
        await context.console.second_factors.turn_off(context.user, password, code)
    except InvalidField as exc:
        return await _form(context, "off", sentence(f"this {exc.why}"), HTTPStatus(422))
    except TooManyRequests as exc:
        return _later(await _form(context, "off", sentence(str(exc)), HTTPStatus(429)), exc)
    return context.redirect("/console/account?done=off")


def qr_code(uri: Secret) -> bytes:
    """Return a QR code as SVG: black on white in light and dark, without style. Pure."""
    made = io.BytesIO()
    segno.make(uri.reveal(), error="m", micro=False).save(
        made,
        kind="svg",
        border=_QUIET_MODULES,
        dark="#000",
        light="#fff",
        xmldecl=False,
        omitsize=True,
        svgclass=None,
        lineclass=None,
    )
    return made.getvalue()


async def _secret(
    context: PageContext, fault: str = "", status: HTTPStatus = HTTPStatus.OK
) -> Response:
    shown = await context.console.second_factors.shown(context.user)
    if shown is None:
        return context.redirect(SECOND_FACTOR)
    return context.page(
        "second_factor/secret.html",
        status=status,
        secret=shown.text.reveal(),
        picture=PICTURE,
        minutes=int(BEGUN_LASTS.total_seconds() / 60),
        fault=fault,
    )


async def _form(
    context: PageContext, action: str, fault: str = "", status: HTTPStatus = HTTPStatus.OK
) -> Response:
    if await context.console.second_factors.find(context.user) is None:
        return context.redirect(SECOND_FACTOR)
    return context.page("second_factor/act.html", status=status, action=action, fault=fault)


def _codes(context: PageContext, codes: Sequence[Secret], *, is_first: bool) -> Response:
    return context.page(
        "second_factor/codes.html",
        codes=[code.reveal() for code in codes],
        is_first=is_first,
        # The session of this request was read before.
        goes_on=context.console.settings.console.requires_second_factor,
    )


def _later(response: Response, exc: TooManyRequests) -> Response:
    response.headers["Retry-After"] = str(int(exc.retry_after.total_seconds()))
    return response


def _check_password_user(context: PageContext) -> None:
    """Refuse users of an issuer.

    Raises:
        Conflict: the user logs in at an issuer.
    """
    if context.user.issuer is not None:
        raise Conflict("you log in at an issuer, and have no second factor here")


PAGES = (
    ConsolePage("GET", SECOND_FACTOR, Access.SIGNED_IN, show, before_second_factor=True),
    *(
        ConsolePage(
            method, path, Access.SIGNED_IN, handler, step_up=True, before_second_factor=True
        )
        for method, path, handler in (
            ("POST", BEGIN, begin),
            ("GET", TURN_ON, show_secret),
            ("POST", TURN_ON, turn_on),
            ("GET", PICTURE, show_picture),
        )
    ),
    ConsolePage("GET", CODES, Access.SIGNED_IN, ask_codes),
    ConsolePage("POST", CODES, Access.SIGNED_IN, renew_codes),
    ConsolePage("GET", TURN_OFF, Access.SIGNED_IN, ask_off),
    ConsolePage("POST", TURN_OFF, Access.SIGNED_IN, turn_off),
)
