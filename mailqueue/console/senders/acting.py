"""Pages that activate, prefer and remove a sender account."""

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.senders.finding import SENDER, account_in_path, path_of
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.senders import changing
from mailqueue.senders.changing import SenderChange
from mailqueue.senders.model import SenderStatus


async def preview_activation(context: PageContext, conn: Conn) -> ActPreview:
    """Return what happens once a suspended account sends again."""
    found = await account_in_path(context, conn)
    if found.status is not SenderStatus.SUSPENDED:
        return ActPreview(found.name, f"It is not suspended: it is {found.status}.")
    why = f", with the answer: {found.status_reason}" if found.status_reason else ""
    return ActPreview(
        found.name,
        f"Its server refused the account itself{why}. It sends again at once, and is suspended "
        "again if the server still refuses it. Mend the cause first, and test the account.",
    )


async def activate(context: PageContext, conn: Conn) -> str:
    """Let a suspended account send again; return the path of its page.

    Raises:
        Conflict: it is not suspended.
    """
    found = await account_in_path(context, conn)
    if found.status is not SenderStatus.SUSPENDED:
        raise Conflict(f"sender account {found.name} is not suspended: it is {found.status}")
    await changing.change(
        conn,
        found.project,
        account_id=found.id,
        change=SenderChange(is_active=True),
        master=None,
        by=context.user.by,
    )
    return path_of(context, found, done="activated")


async def preview_preference(context: PageContext, conn: Conn) -> ActPreview:
    """Return what happens once an account is tried first."""
    found = await account_in_path(context, conn)
    return ActPreview(
        found.name,
        "Emails that name no account, and for which no rule chooses one, are sent by it while its "
        "limits allow that; the others are tried after it. If it is paused, it is resumed.",
    )


async def prefer(context: PageContext, conn: Conn) -> str:
    """Make an account the first that is tried; return the path of its page."""
    found = await account_in_path(context, conn)
    await changing.prefer(conn, found.project, account_id=found.id, by=context.user.by)
    return path_of(context, found, done="preferred")


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends with an account."""
    found = await account_in_path(context, conn)
    return ActPreview(
        found.name,
        "Its credentials are destroyed, and its queued emails are sent by the other accounts of "
        "the project. What it sent stays on record. There is no way to undo it.",
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Remove an account; return the path of the list."""
    found = await account_in_path(context, conn)
    await changing.remove(conn, found.project, account_id=found.id, by=context.user.by)
    return project_path(context.seen.name, "senders", done="removed")


PAGES = (
    *button_pages(
        f"{SENDER}/activate",
        Right.CONFIGURE,
        ActPage("Activate the account", "Activate the account", preview_activation, activate),
    ),
    *button_pages(
        f"{SENDER}/prefer",
        Right.CONFIGURE,
        ActPage("Try first the account", "Try the account first", preview_preference, prefer),
    ),
    *button_pages(
        f"{SENDER}/remove",
        Right.CONFIGURE,
        ActPage(
            "Remove the account", "Remove the account", preview_removal, remove, is_destructive=True
        ),
        step_up=True,
    ),
)
