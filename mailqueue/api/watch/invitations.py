"""The endpoint that invites an inbox user to log in."""

from typing import Literal

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.watch.people import USERS
from mailqueue.contract.watch import InboxInvitation
from mailqueue.projects.model import Scope
from mailqueue.watch.logins import links


class InviteInboxUser(StrictRequestModel):
    """How an inbox user gets the link."""

    by: Literal["mail", "link"] = "mail"
    """`mail`: it is mailed to the address of the person; `link`: it is in the answer, to be passed
    on."""


async def invite_user(call: RequestContext) -> InboxInvitation:
    """Make a link by which an inbox user sets a password."""
    body: InviteInboxUser = call.body
    async with call.connection() as conn:
        return await links.invite(
            conn,
            call.caller.project_id,
            call.id("inbox_user_id"),
            project=call.caller.project,
            origin=call.settings.tracking.public_url,
            by_mail=body.by == "mail",
            by=call.by,
        )


INVITATION_ENDPOINTS = (
    Endpoint(
        "POST",
        USERS + "/{inbox_user_id}/invite",
        Scope.PROJECT_WRITE,
        "Invite an inbox user to log in.",
        invite_user,
        request=InviteInboxUser,
        response=InboxInvitation,
        tag="Inbox watch",
        once=Once.NEVER,
        example={"by": "link"},
        description="The person sets a password by the link, which works once within seven days, "
        "and manages inboxes, channels and rules on pages of their own. Who has the link can log "
        "in as the person.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
