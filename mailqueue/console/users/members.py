"""The members of a project: who sees it, inviting, and taking the project from a member."""

from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users import members
from mailqueue.admin.users.model import Right, Role
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.users.changing import fault_of, hand_over
from mailqueue.console.users.roles import MEANINGS, RoleForm
from mailqueue.contract.admin import ProjectMember
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.web.forms import text_of

PATH = "/console/projects/{project}/members"
DONE = {
    "removed": "The member no longer sees this project.",
    "before": "This was done before, and was not done again.",
}


async def show_members(context: PageContext) -> Response:
    """List the members."""
    async with context.console.lend() as conn:
        found = await members.list_of(conn, context.seen.id)
    roles = members.roles_within(context.user.role)
    return context.page(
        "users/members.html",
        members=found,
        most=members.MAX_LISTED,
        removable=[each.user_id for each in found if each.role in roles and not each.issuer],
        done=DONE.get(context.query("done"), ""),
    )


async def ask_invite(context: PageContext) -> Response:
    """Show the form of an invitation."""
    return _form(context, context.query("name"), context.query("role") or Role.VIEWER)


async def invite(context: PageContext) -> Response:
    """Invite a person; show the link by which the password is set."""
    name, role = text_of(context.form, "name"), text_of(context.form, "role")
    try:
        async with context.administering_once() as conn:
            made = await members.invite(
                conn,
                name,
                role=role,
                project=context.seen.name,
                within=context.user.role,
                by=context.user.by,
            )
    except DoneBefore:
        return context.redirect(project_path(context.seen.name, "members", done="before"))
    except InvalidField as exc:
        return _form(context, name, role, fault_of(exc))
    return await hand_over(context, made)


async def ask_remove(context: PageContext) -> Response:
    """Show what removing a member does."""
    return context.page("users/leave.html", member=await _member(context))


async def remove(context: PageContext) -> Response:
    """Take the project from a member, at once for open sessions."""
    member = await _member(context)
    done = "removed"
    try:
        async with context.administering_once() as conn:
            await members.remove(
                conn,
                context.seen.id,
                member.user_id,
                within=context.user.role,
                by=context.user.by,
            )
    except DoneBefore:
        done = "before"
    except InvalidField as exc:
        raise Conflict(exc.why) from exc
    return context.redirect(project_path(context.seen.name, "members", done=done))


async def _member(context: PageContext) -> ProjectMember:
    """Return the member in the path.

    Raises:
        NotFound: the project has no such member.
        Conflict: it is the user of this session.
    """
    try:
        wanted = UUID(context.request.path_params["member"])
    except ValueError:
        raise NotFound("member", "with this id") from None
    if wanted == context.user.user_id:
        raise Conflict("this is your own account: another member can take the project from it")
    async with context.console.lend() as conn:
        return await members.find(conn, context.seen.id, wanted)


def _form(context: PageContext, name: str, role: str, fault: str = "") -> Response:
    roles = members.roles_within(context.user.role)
    return context.page(
        "users/invite.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        name=name,
        form=RoleForm(role, ""),
        fault=fault,
        meanings={each: MEANINGS[each] for each in roles},
    )


PAGES = (
    ConsolePage(
        "GET", PATH, Right.MANAGE_MEMBERS, show_members, menu=MenuEntry("Members", "Project")
    ),
    *(
        ConsolePage(
            method, path, Right.MANAGE_MEMBERS, handler, keeps=("name", "role"), step_up=True
        )
        for path, asked, acts in (
            (f"{PATH}/invite", ask_invite, invite),
            (f"{PATH}/one/{{member}}/remove", ask_remove, remove),
        )
        for method, handler in (("GET", asked), ("POST", acts))
    ),
)
