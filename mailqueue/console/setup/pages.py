"""First steps: from nothing to an email that arrives at a real address.

What is done is read from the project itself, so the page can be left and resumed at any time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.senders.trying import TriedSender, try_account
from mailqueue.console.setup import form as setup_form
from mailqueue.console.setup.arrival import Arrival, arrival_of
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.contract.emails import Email
from mailqueue.contract.senders import Sender
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import ConfigError, Conflict, InvalidField, Locked
from mailqueue.core.providers import Provider
from mailqueue.domains import keys as dkim_keys
from mailqueue.mail.accept.acceptance import accept_one
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.projects import manage as projects_manage
from mailqueue.projects.keys import manage as keys_manage
from mailqueue.senders import accounts, changing
from mailqueue.senders.values import senders_of
from mailqueue.vault.masterkey import master_key_of
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/setup"
_KEYS_LOOKED_AT = 50
"""Keys among which an active one is looked for, the newest ones."""


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """How far a project is; None or empty where a step is not done."""

    senders: list[Sender]
    domain: str | None
    """Domain of the From address; None where there is no address."""
    is_signing: bool
    has_key: bool
    email: Email | None
    """The newest test email."""
    arrival: Arrival | None
    """What became of it."""


async def show_setup(context: PageContext) -> Response:
    """Show the steps, and how far the project is."""
    return await _shown(context)


async def add_sender(context: PageContext) -> Response:
    """Add a sender account."""
    form = context.form
    try:
        new = setup_form.new_sender(form, is_private_ok=context.may(Right.ADMINISTER))
        async with context.acting_once() as conn:
            await changing.add(
                conn,
                new,
                project=context.seen.name,
                master=master_key_of(context.console.settings),
                by=context.user.by,
            )
    except DoneBefore:
        return _done(context, "before")
    except InvalidField as exc:
        return await _shown(
            context, typed=form, faults={setup_form.field_of(exc): sentence(exc.why)}
        )
    except Conflict as exc:
        return await _shown(context, typed=form, faults={"name": sentence(str(exc))})
    except (ConfigError, Locked) as exc:
        return await _shown(context, typed=form, faults={"password": sentence(str(exc))})
    return _done(context, "sender")


async def try_sender(context: PageContext) -> Response:
    """Connect to the server of an account and log in; show what it answered."""
    project, name = context.seen.name, text_of(context.form, "sender")
    tried = await try_account(context, lambda conn: accounts.find(conn, project, name=name[:100]))
    return await _shown(context, tried=tried)


async def send_test(context: PageContext) -> Response:
    """Accept an email to the address that was typed."""
    typed, project = text_of(context.form, "to"), context.seen.name
    try:
        parse_address(typed)
        async with context.acting_once() as conn:
            await accept_one(conn, setup_form.test_email(typed, project), project=project)
    except DoneBefore:
        return _done(context, "before")
    except InvalidAddress as exc:
        return await _shown(context, typed=context.form, faults={"to": sentence(str(exc))})
    except InvalidField as exc:
        return await _shown(context, typed=context.form, faults={"to": sentence(exc.why)})
    return _done(context, "sent")


async def _shown(
    context: PageContext,
    *,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
    tried: TriedSender | None = None,
) -> Response:
    kept = {name: context.query(name) for name in (*setup_form.FIELDS, "to")}
    return context.form_page(
        "setup/setup.html",
        typed or kept,
        faults,
        steps=await _steps(context),
        tried=tried,
        is_adding=bool(setup_form.SENDER_FIELDS & set(faults or ())),
        form=setup_form,
        done=context.query("done"),
    )


async def _steps(context: PageContext) -> FirstSteps:
    name, project_id = context.seen.name, context.seen.id
    async with context.connection() as conn:
        project = await projects_manage.find_by_id(conn, project_id)
        all_of = await accounts.list_all(conn, project=name)
        senders = await senders_of(conn, name, all_of)
        signed = {
            key.domain
            for key in await dkim_keys.list_keys(conn, project=name)
            if key.status is DkimKeyStatus.ACTIVE
        }
        keys = await keys_manage.page_of_keys(conn, project_id, limit=_KEYS_LOOKED_AT)
        newest = await emails.list_page(
            conn, EmailQuery(project_id=project_id, tag=setup_form.TAG, limit=1)
        )
        email = None
        if newest:
            email = await emails.find(conn, newest[0].id, project_id=project_id)
    addresses = (project.from_email, *(sender.from_email for sender in senders))
    domain = next((each.rpartition("@")[2] for each in addresses if each), None)
    now = datetime.now(UTC)
    trapping = {account.name for account in all_of if account.provider is Provider.TRAP}
    return FirstSteps(
        senders=senders,
        domain=domain,
        is_signing=domain in signed,
        has_key=any(key.status(now) == "active" for key in keys),
        email=email,
        arrival=arrival_of(email, trapping=trapping) if email is not None else None,
    )


def _done(context: PageContext, done: str) -> Response:
    return context.redirect(project_path(context.seen.name, "setup", done=done))


PAGES = (
    ConsolePage("GET", PATH, Right.CONFIGURE, show_setup, menu=MenuEntry("First steps", "Sending")),
    ConsolePage("POST", f"{PATH}/sender", Right.CONFIGURE, add_sender, keeps=setup_form.FIELDS),
    ConsolePage("POST", f"{PATH}/try", Right.CONFIGURE, try_sender, keeps=()),
    ConsolePage("POST", f"{PATH}/send", Right.CONFIGURE, send_test, keeps=("to",)),
)
