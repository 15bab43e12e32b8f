"""What can be done with a recipient of a project: suppress, lift, export and erase, each once."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import act_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.recipients.pages import RECIPIENT
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.operations import search
from mailqueue.privacy import erasing
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import address_of, category_of
from mailqueue.suppression.model import NewSuppression
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

MAX_REASON = 500
"""Maximum length in characters of a reason, which is stored with the suppression."""
RecipientAct = Callable[[PageContext, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class RecipientAction:
    """One thing that can be done with a recipient, and its consequence in words."""

    name: str
    title: str
    """What is done, before the address."""
    button: str
    consequence: str
    done: str
    act: RecipientAct
    takes: tuple[str, ...]
    """Fields of its form besides the address."""
    is_destructive: bool = False


async def _suppress(context: PageContext, address: str) -> None:
    category = category_of(text_of(context.form, "category"))
    detail = text_of(context.form, "reason") or None
    wanted = NewSuppression(address_of(address), category=category, detail=detail)
    async with context.acting_once() as conn:
        await entries.add(conn, context.seen.name, entries=[wanted], by=context.user.by)


async def _lift(context: PageContext, address: str) -> None:
    why = text_of(context.form, "reason") or None
    async with context.acting_once() as conn:
        await entries.remove(conn, context.seen.name, email=address, why=why, by=context.user.by)


async def _erase(context: PageContext, address: str) -> None:
    """Begin the erasure; the workers of the installation finish it."""
    await erasing.begin(
        context.acting_once,
        context.seen.id,
        address_of(address).spellings,
        suppress=bool(text_of(context.form, "suppress")),
        by=context.user.by,
    )


ACTIONS: Mapping[str, RecipientAction] = {
    each.name: each
    for each in (
        RecipientAction(
            "suppress",
            "Suppress the address",
            "Suppress the address",
            "No email is sent to this address by this project any more, whether it waits already "
            "or is accepted later. With a category, only email of the category is not sent.",
            "The address is suppressed.",
            _suppress,
            ("category", "reason"),
        ),
        RecipientAction(
            "lift",
            "Lift the suppression of",
            "Lift the suppression",
            "All suppressions of this address in this project end, and email that is accepted from "
            "now on is sent to it. If it bounced or complained before, it may do so again, which "
            "harms the reputation of the sender: the reason is needed then.",
            "The suppression was lifted.",
            _lift,
            ("reason",),
        ),
        RecipientAction(
            "erase",
            "Erase what is stored about",
            "Erase the data",
            "Everything that this project stores about the person is erased: the address, "
            "messages sent to it alone, their files, events, and records in the archive. Email "
            "that waits is cancelled. Counts stay, and suppressions go on by a hash. It cannot be "
            "undone, and goes on when this page is closed.",
            "The erasure has begun, and goes on when this page is closed.",
            _erase,
            ("suppress",),
            is_destructive=True,
        ),
    )
}


async def ask(context: PageContext, *, action: RecipientAction) -> Response:
    """Show what an action will do, and the form that does it."""
    return await _asked(context, action, address_of(context.query("address")).sent)


async def act(context: PageContext, *, action: RecipientAction) -> Response:
    """Act once; show the form again, as it was typed, if that is not possible."""
    address = address_of(text_of(context.form, "address")).sent
    project, done = context.seen.name, action.name
    try:
        if len(text_of(context.form, "reason")) > MAX_REASON:
            raise InvalidField("reason", f"must have at most {MAX_REASON} characters")
        await action.act(context, address)
    except DoneBefore:
        done = "before"
    except InvalidField as exc:
        fault, status = sentence(str(exc)), HTTPStatus.UNPROCESSABLE_ENTITY
        return await _asked(context, action, address, fault=fault, status=status)
    except (Conflict, NotFound) as exc:
        fault, status = sentence(str(exc)), HTTPStatus.CONFLICT
        return await _asked(context, action, address, fault=fault, status=status)
    return context.redirect(project_path(project, "recipient", address=address, done=done))


async def _asked(
    context: PageContext,
    action: RecipientAction,
    address: str,
    *,
    fault: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    async with context.console.lend() as conn:
        found = await search.search_for_user(conn, context.user.user_id, address)
    emails = [
        match.emails or 0
        for match in found
        if match.kind == "recipient" and match.project == context.seen.name
    ]
    typed = {name: text_of(context.form, name) or context.query(name) for name in action.takes}
    return context.page(
        "recipients/act.html",
        status=status,
        address=address,
        action=action,
        emails=emails[0] if emails else 0,
        typed=typed,
        fault=fault,
        longest=MAX_REASON,
    )


PAGES = tuple(
    page
    for action in ACTIONS.values()
    for page in act_pages(
        f"{RECIPIENT}/{action.name}",
        Right.MANAGE_RECIPIENTS,
        ask=partial(ask, action=action),
        act=partial(act, action=action),
        keeps=("address", *action.takes),
        step_up=action.is_destructive,
    )
)
