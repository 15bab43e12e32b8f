"""Log in at an OpenID Connect issuer: the way there, and the way back."""

from starlette.responses import Response

from mailqueue.admin.users import seeing
from mailqueue.console.frame import cookies
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.router import CONFIRM, HOME, LOGIN
from mailqueue.console.login.flow import KeptFlow, new_flow, read_flow
from mailqueue.console.login.pages import local_path, refused, source_of
from mailqueue.core.errors import (
    Forbidden,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.ports.identity import LoginProvider
from mailqueue.settings.oidc import OidcLogin

START = "/console/login/issuer"
BACK = f"{START}/back"


async def begin(context: PageContext) -> Response:
    """Send the browser to the issuer; this one alone can use the answer.

    Without an issuer it goes to the form of the password.
    """
    if context.console.issuer is None:
        return context.redirect(LOGIN)
    return await _begun(context, new_flow(local_path(context.query("next"))))


async def begin_anew(context: PageContext) -> Response:
    """Send the browser to the issuer, where the user logs in once more for a destructive act."""
    if context.console.issuer is None:
        return context.redirect(CONFIRM)
    after = local_path(context.query("next"))
    return await _begun(context, new_flow(after, confirms=str(context.user.session_id)))


async def _begun(context: PageContext, kept: KeptFlow) -> Response:
    provider, _ = _provider(context)
    after, anew = kept.after, bool(kept.confirms)
    try:
        url = await provider.authorization_url(kept.flow, back=_back(context), anew=anew)
    except Unavailable as exc:
        return refused(context, exc, "", after)
    response = context.redirect(url)
    cookies.keep_flow(context.request, response, kept.as_cookie())
    return response


async def end(context: PageContext) -> Response:
    """Begin a session of the person whom the issuer has identified, or confirm one."""
    if context.console.issuer is None:
        return context.redirect(LOGIN)
    kept = read_flow(cookies.flow_of(context.request))
    if kept is None and context.session is not None:
        return context.redirect(HOME)  # loaded again after the login
    after = HOME if kept is None else local_path(kept.after)
    try:
        response = await _ended(context, kept, after)
    except (Unauthorized, Forbidden, TooManyRequests, Unavailable) as exc:
        response = refused(context, exc, "", after)
    cookies.end_flow(context.request, response)
    return response


async def _ended(context: PageContext, kept: KeptFlow | None, after: str) -> Response:
    provider, settings = _provider(context)
    if kept is None:
        raise Unauthorized("this login was not begun in this browser, or took too long")
    logins, source = context.console.logins, source_of(context)
    await logins.wait_for_turn(source)
    answer = _single(context)
    anew = bool(kept.confirms)
    identity = await provider.identify(kept.flow, answer, back=_back(context), anew=anew)
    async with context.console.lend() as conn:
        if not await seeing.take_action(conn, kept.once):
            raise Unauthorized("this login was used before")
    if anew:
        if context.session is None or str(context.session.session_id) != kept.confirms:
            raise Unauthorized("the session that this login confirms has ended")
        await logins.confirm_at_issuer(context.session, identity)
        return context.redirect(after)
    begun = await logins.log_in_at_issuer(identity, settings.rules, source)
    response = context.redirect(after)
    cookies.begin(context.request, response, begun)
    return response


def _provider(context: PageContext) -> tuple[LoginProvider, OidcLogin]:
    """Return the issuer and its settings, where one is set."""
    provider, settings = context.console.issuer, context.console.settings.console.oidc
    assert provider is not None, "the pages ask first"
    assert settings is not None, "a provider is made of its settings"
    return provider, settings


def _back(context: PageContext) -> str:
    """Return the URL to which the issuer sends the browser; never by the Host header."""
    return f"{context.console.settings.console.url}{BACK}"


def _single(context: PageContext) -> dict[str, str]:
    """Return the parameters of the answer.

    Raises:
        Unauthorized: one stands twice, which RFC 6749 section 3.1 does not allow.
    """
    pairs = context.request.query_params.multi_items()
    answer = dict(pairs)
    if len(answer) != len(pairs):
        raise Unauthorized("the issuer's answer is not valid")
    return answer


PAGES = (
    ConsolePage("GET", START, Access.PUBLIC, begin),
    ConsolePage("GET", BACK, Access.PUBLIC, end),
    ConsolePage("GET", f"{CONFIRM}/issuer", Access.SIGNED_IN, begin_anew),
)
