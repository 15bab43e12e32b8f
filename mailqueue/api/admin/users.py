"""The endpoints of people who log in to the console, for administrators."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users import manage
from mailqueue.admin.users.model import PasswordLink
from mailqueue.api.admin.schema import AddUser, ChangeUser
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.origin import origin_of
from mailqueue.contract.admin import ConsoleLink, ConsoleUser
from mailqueue.contract.page import Page

_PATH = "/admin/users"
_TAG = "Installation"


async def list_users(call: RequestContext) -> Page[ConsoleUser]:
    """List the users of the console."""
    async with call.connection() as conn:
        return Page(await manage.list_all(conn), None)


async def add_user(call: RequestContext) -> ConsoleLink:
    """Add a user of the console."""
    wanted: AddUser = call.body
    async with call.connection() as conn:
        made = await manage.add(
            conn,
            wanted.name,
            role=wanted.role,
            projects=wanted.projects,
            sees_all=wanted.all_projects,
            by=call.by,
        )
    return shown_link(call, made)


async def link_user(call: RequestContext) -> ConsoleLink:
    """Replace the link by which a user sets a password."""
    async with call.connection() as conn:
        return shown_link(call, await manage.renew_link(conn, call.path["name"], by=call.by))


async def change_user(call: RequestContext) -> ConsoleUser:
    """Change the role and projects of a user of the console."""
    wanted: ChangeUser = call.body
    async with call.connection() as conn:
        return await manage.change(
            conn,
            call.path["name"],
            role=wanted.role,
            projects=wanted.projects,
            sees_all=wanted.all_projects,
            reset_second_factor=wanted.reset_second_factor,
            by=call.by,
        )


async def remove_user(call: RequestContext) -> Response:
    """Remove a user of the console."""
    async with call.connection() as conn:
        await manage.remove(conn, call.path["name"], by=call.by)
    return Response(status_code=HTTPStatus.NO_CONTENT)


def shown_link(call: RequestContext, made: PasswordLink) -> ConsoleLink:
    """Return a link that sets a password, at the URL of the console."""
    base = call.settings.console.url or origin_of(
        call.request.scope, call.settings.tracking.public_url
    )
    return ConsoleLink(made.name, manage.link_url(base, made), made.until)


ENDPOINTS = (
    Endpoint(
        "GET",
        _PATH,
        None,
        "List the users of the console.",
        list_users,
        response=Page[ConsoleUser],
        superadmin=True,
        tag=_TAG,
    ),
    Endpoint(
        "POST",
        _PATH,
        None,
        "Add a user of the console.",
        add_user,
        request=AddUser,
        response=ConsoleLink,
        status=HTTPStatus.CREATED,
        superadmin=True,
        tag=_TAG,
        hidden=("link",),
        description="The link sets the password, once, within 24 hours. It is shown only once.",
        example={"name": "ben", "role": "support", "projects": ["simplify-hiring"]},
    ),
    Endpoint(
        "POST",
        f"{_PATH}/{{name}}/link",
        None,
        "Replace the link by which a user of the console sets a password.",
        link_user,
        response=ConsoleLink,
        superadmin=True,
        tag=_TAG,
        hidden=("link",),
        description="An earlier link is void. The password stays valid until the link is used,"
        " which ends all sessions of the user.",
    ),
    Endpoint(
        "PATCH",
        f"{_PATH}/{{name}}",
        None,
        "Change the role and projects of a user of the console, or reset the second factor.",
        change_user,
        request=ChangeUser,
        response=ConsoleUser,
        superadmin=True,
        tag=_TAG,
        description="Open sessions have the new rights with their next request. Users who log in at"
        " an issuer get role and projects from there, and are not changed here."
        " `reset_second_factor` is for people who have lost their device and their recovery codes:"
        " the next login needs the password alone, and open sessions end.",
        example={"role": "viewer", "projects": ["simplify-hiring"]},
    ),
    Endpoint(
        "DELETE",
        f"{_PATH}/{{name}}",
        None,
        "Remove a user of the console.",
        remove_user,
        status=HTTPStatus.NO_CONTENT,
        superadmin=True,
        tag=_TAG,
        description="The sessions of the user end at once. The name is not used again.",
    ),
)
