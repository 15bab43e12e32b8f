"""The code of a second factor, after the password of a login."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.proofs import WrongCode
from mailqueue.console.frame import cookies
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.router import LOGIN
from mailqueue.console.login.pages import CODE, local_path, refused, source_of
from mailqueue.core.errors import TooManyRequests, Unauthorized, Unavailable
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import path_with, sentence


async def show(context: PageContext) -> Response:
    """Show the form, where the password of a login of this browser was right."""
    after = local_path(context.query("next"))
    if context.session is not None:
        return context.redirect(after)
    kept = cookies.unfinished_of(context.request)
    if not await context.console.second_factors.awaits_code(kept, source_of(context)):
        return context.redirect(path_with(LOGIN, next=after))
    return _shown(context, after)


async def log_in(context: PageContext) -> Response:
    """Begin the session by a code; a wrong one can be followed by another."""
    request, after = context.request, local_path(text_of(context.form, "next"))
    kept = cookies.unfinished_of(request)
    try:
        begun = await context.console.second_factors.log_in(
            kept, context.form.get("code", ""), source_of(context)
        )
    except WrongCode as exc:
        return _shown(context, after, str(exc), HTTPStatus.UNAUTHORIZED)
    except TooManyRequests as exc:
        response = _shown(context, after, str(exc), HTTPStatus.TOO_MANY_REQUESTS)
        response.headers["Retry-After"] = str(int(exc.retry_after.total_seconds()))
        return response
    except (Unauthorized, Unavailable) as exc:
        return refused(context, exc, "", after)
    response = context.redirect(after)
    cookies.begin(request, response, begun)
    cookies.end_unfinished(request, response)
    return response


def _shown(
    context: PageContext, after: str, fault: str = "", status: int = HTTPStatus.OK
) -> Response:
    return context.page(
        "login/code.html", status=status, after=after, fault=sentence(fault) if fault else ""
    )


PAGES = (
    ConsolePage("GET", CODE, Access.PUBLIC, show),
    ConsolePage("POST", CODE, Access.PUBLIC, log_in),
)
