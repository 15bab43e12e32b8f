"""Pages that create, rotate and revoke an API key: what will happen, the form, and the result."""

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.origin import api_origin
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.keys import form as keys_form
from mailqueue.console.keys.pages import KEY, PATH, find_key, key_id_of, status_of
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.projects.keys import manage as keys_manage
from mailqueue.projects.model import ApiKey, IssuedKey
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

NEW = f"{PATH}/new"
_KEPT = ("name", "mode", "expires", "requests_per_second", *keys_form.SCOPE_FIELDS)


async def ask_new(context: PageContext) -> Response:
    """Show the form of a new key."""
    typed = {name: context.query(name) for name in _KEPT if context.query(name)}
    return _new(context, typed or keys_form.USUAL)


async def create(context: PageContext) -> Response:
    """Create a key and show it, once."""
    try:
        wanted = keys_form.new_key(context.form)
        async with context.acting_once() as conn:
            issued = await keys_manage.issue_key(
                conn,
                context.seen.name,
                wanted.name,
                is_test=wanted.is_test,
                scopes=wanted.scopes,
                expires_at=None if wanted.lasts is None else datetime.now(UTC) + wanted.lasts,
                requests_per_second=wanted.requests_per_second,
            )
    except DoneBefore:
        return _done_before(context)
    except InvalidField as exc:
        return _new(context, context.form, {exc.field: sentence(exc.why)})
    except Conflict as exc:
        return _new(context, context.form, {"name": sentence(str(exc))})
    return _issued(context, issued)


async def ask_rotation(context: PageContext) -> Response:
    """Show what rotating a key does, and the form that does it."""
    return _rotation(context, await find_key(context), {})


async def rotate(context: PageContext) -> Response:
    """Replace a key and show the new one, once."""
    try:
        lasts = keys_form.grace(context.form)
    except InvalidField as exc:
        return _rotation(context, await find_key(context), {exc.field: sentence(exc.why)})
    key = await find_key(context)
    if status_of(key) != "active":
        return _rotation(context, key, {})
    try:
        async with context.acting_once() as conn:
            issued = await keys_manage.rotate_key(
                conn, context.seen.id, key_id_of(context), grace=lasts
            )
    except DoneBefore:
        return _done_before(context)
    except InvalidField as exc:
        return _rotation(context, key, {exc.field: sentence(exc.why)})
    return _issued(context, issued, old=key)


async def ask_revoking(context: PageContext) -> Response:
    """Show what revoking a key does, and the form that does it."""
    return _revoking(context, await find_key(context), context.query("reason"))


async def revoke(context: PageContext) -> Response:
    """Revoke a key."""
    try:
        reason = keys_form.reason(context.form)
    except InvalidField as exc:
        typed = text_of(context.form, "reason")
        return _revoking(context, await find_key(context), typed, {exc.field: sentence(exc.why)})
    try:
        async with context.acting_once() as conn:
            await keys_manage.revoke_key_by_id(
                conn, context.seen.id, key_id_of(context), reason=reason
            )
    except DoneBefore:
        return context.redirect(
            project_path(context.seen.name, "keys", key_id_of(context), done="before")
        )
    return context.redirect(
        project_path(context.seen.name, "keys", key_id_of(context), done="revoked")
    )


def _new(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    return context.form_page(
        "keys/new.html",
        typed,
        faults,
        meanings=keys_form.MEANINGS,
        lives=keys_form.LIVES,
        longest=keys_manage.NAME_CHARACTERS,
    )


def _issued(context: PageContext, issued: IssuedKey, old: ApiKey | None = None) -> Response:
    return context.page(
        "keys/issued.html",
        key=issued.record,
        secret=issued.key.reveal(),
        old=old,
        trial=keys_form.trial(api_origin(context), issued),
    )


def _rotation(context: PageContext, key: ApiKey, faults: Mapping[str, str]) -> Response:
    is_possible = status_of(key) == "active"
    refused = context.request.method == "POST" and not is_possible
    status = HTTPStatus.CONFLICT if refused else HTTPStatus.OK
    return context.page(
        "keys/rotate.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults else status,
        key=key,
        status_now=status_of(key),
        is_possible=is_possible,
        typed=context.form,
        faults=faults,
        graces=keys_form.GRACES,
    )


def _revoking(
    context: PageContext, key: ApiKey, reason: str, faults: Mapping[str, str] | None = None
) -> Response:
    return context.form_page(
        "keys/revoke.html",
        {"reason": reason},
        faults,
        key=key,
        status_now=status_of(key),
        is_possible=key.revoked_at is None,
        longest=keys_form.MAX_REASON,
    )


def _done_before(context: PageContext) -> Response:
    return context.redirect(project_path(context.seen.name, "keys", done="before"))


PAGES = (
    ConsolePage("GET", NEW, Right.MANAGE_KEYS, ask_new),
    ConsolePage("POST", NEW, Right.MANAGE_KEYS, create, keeps=_KEPT),
    ConsolePage("GET", f"{KEY}/rotate", Right.MANAGE_KEYS, ask_rotation),
    ConsolePage("POST", f"{KEY}/rotate", Right.MANAGE_KEYS, rotate),
    ConsolePage("GET", f"{KEY}/revoke", Right.MANAGE_KEYS, ask_revoking),
    ConsolePage(
        "POST", f"{KEY}/revoke", Right.MANAGE_KEYS, revoke, keeps=("reason",), step_up=True
    ),
)
