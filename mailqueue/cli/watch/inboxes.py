"""`mailqueue watch inbox`: inboxes that are scanned for new mail."""

from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.cli.watch.options import (
    id_argument,
    of_user_option,
    pairs_of,
    remove_with_consents,
    secret_of,
    user_option,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import Inbox, InboxConsent
from mailqueue.ports.mailbox import MailboxTls
from mailqueue.projects.ids import project_id_of
from mailqueue.watch import gmail, inboxes
from mailqueue.watch.inboxes import DEFAULT_SCAN_SECONDS, InboxAction, NewInbox
from mailqueue.watch.model import PendingConsent
from mailqueue.wiring.watch import inbox_consents

_COLUMNS = (
    Column("id", "INBOX"),
    Column("email_address", "ADDRESS"),
    Column("status", "STATUS"),
    Column("last_scanned_at", "LAST SCAN"),
    Column("next_scan_at", "NEXT SCAN"),
    Column("last_error", "ERROR"),
)
_ID = "0197b8f0-0000-7000-8000-0000000000c3"
_USER = "0197b8f0-0000-7000-8000-0000000000c1"
_password = click.option(
    "--password-env",
    metavar="VARIABLE",
    help="Environment variable that holds the password; without it, a terminal is prompted.",
)
_webmail_url = click.option(
    "--webmail-url",
    metavar="URL",
    help="Page that notifications link to; {message_id} in it is replaced.",
)
_every = click.option(
    "--every",
    "scan_seconds",
    type=click.IntRange(30, 86400),
    default=DEFAULT_SCAN_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two scans.",
)
_CONNECTED = f"mailqueue watch inbox connect ann@example.com --user {_USER}"
_ADDED = (
    f"mailqueue watch inbox add ann@example.com --user {_USER} --host imap.example.com"
    " --password-env INBOX_PASSWORD"
)


@click.group(cls=CommandGroup, epilog=examples(_ADDED, "mailqueue watch inbox list"))
def inbox() -> None:
    """Manage the inboxes that are scanned for new mail."""


@inbox.command(epilog=examples(_ADDED))
@click.argument("email_address", metavar="ADDRESS")
@of_user_option
@click.option("--host", required=True, help="Host of the IMAP server.")
@click.option("--port", type=click.IntRange(1, 65535), default=993, show_default=True, help="Port.")
@click.option(
    "--tls",
    type=click.Choice([one.value for one in MailboxTls]),
    default=MailboxTls.IMPLICIT.value,
    show_default=True,
    help="How the connection is secured.",
)
@click.option("--username", help="Name to log in with.  [default: ADDRESS]")
@_password
@click.option(
    "--folder",
    "folders",
    multiple=True,
    default=inboxes.DEFAULT_FOLDERS,
    show_default=True,
    help="Folder whose new mail is reported; may be repeated.",
)
@_webmail_url
@_every
@project_option
@json_option
def add(
    *,
    email_address: str,
    user_id: UUID,
    host: str,
    port: int,
    tls: str,
    username: str | None,
    password_env: str | None,
    folders: tuple[str, ...],
    webmail_url: str | None,
    scan_seconds: int,
    project: str,
) -> None:
    """Watch the inbox of ADDRESS: mail that arrives from now on is reported."""
    new = NewInbox(
        user_id,
        email_address,
        host,
        secret_of(password_env, what="Password", option="password-env"),
        port=port,
        tls=tls,
        username=username,
        folders=folders,
        webmail_url=webmail_url,
        scan_seconds=scan_seconds,
    )

    async def added(app: Opened) -> Inbox:
        return await inboxes.add(
            app.conn,
            await project_id_of(app.conn, project),
            new,
            allowed=app.settings.allowed_hosts,
            master=app.master_key(),
            by=operator(),
        )

    _print(execute(added))


@inbox.command(epilog=examples(_CONNECTED))
@click.argument("email_address", metavar="ADDRESS")
@of_user_option
@click.option(
    "--label",
    "labels",
    multiple=True,
    default=inboxes.DEFAULT_FOLDERS,
    show_default=True,
    help="Id of a label whose new mail is reported; may be repeated.",
)
@_webmail_url
@_every
@project_option
@json_option
def connect(
    *,
    email_address: str,
    user_id: UUID,
    labels: tuple[str, ...],
    webmail_url: str | None,
    scan_seconds: int,
    project: str,
) -> None:
    """Print where the owner of ADDRESS at Gmail consents to its being watched."""

    async def begun(app: Opened) -> InboxConsent:
        project_id = await project_id_of(app.conn, project)
        wanted = PendingConsent(
            project_id, user_id, email_address, labels, webmail_url, scan_seconds
        )
        return await gmail.begin(
            app.conn,
            wanted,
            consents=inbox_consents(app.settings),
            origin=app.settings.tracking.public_url,
            by=operator(),
        )

    found = execute(begun)
    print_facts(found, pairs_of(found))


@inbox.command("list", epilog=examples("mailqueue watch inbox list --json"))
@user_option
@limit_option()
@project_option
@json_option
def list_(*, user_id: UUID | None, limit: int, project: str) -> None:
    """List watched inboxes, with the last and the next scan."""

    async def listed(app: Opened) -> list[Inbox]:
        project_id = await project_id_of(app.conn, project)
        return await inboxes.list_page(app.conn, project_id, user_id=user_id, limit=limit)

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@inbox.command("show", epilog=examples(f"mailqueue watch inbox show {_ID}"))
@id_argument("INBOX")
@project_option
@json_option
def show_(*, row_id: UUID, project: str) -> None:
    """Show INBOX, with the last and the next scan."""

    async def found(app: Opened) -> Inbox:
        return await inboxes.get(app.conn, await project_id_of(app.conn, project), row_id)

    _print(execute(found))


@inbox.command(epilog=examples(f"mailqueue watch inbox pause {_ID}"))
@id_argument("INBOX")
@project_option
@json_option
def pause(*, row_id: UUID, project: str) -> None:
    """Stop scanning INBOX until it is resumed."""
    _switch(row_id, project, InboxAction.PAUSE)


@inbox.command(epilog=examples(f"mailqueue watch inbox resume {_ID}"))
@id_argument("INBOX")
@project_option
@json_option
def resume(*, row_id: UUID, project: str) -> None:
    """Scan INBOX again; mail of the pause is not reported."""
    _switch(row_id, project, InboxAction.RESUME)


@inbox.command(epilog=examples(f"mailqueue watch inbox scan {_ID}"))
@id_argument("INBOX")
@project_option
@json_option
def scan(*, row_id: UUID, project: str) -> None:
    """Scan INBOX now."""
    _switch(row_id, project, InboxAction.SCAN)


@inbox.command(
    epilog=examples(f"mailqueue watch inbox reconnect {_ID} --password-env INBOX_PASSWORD")
)
@id_argument("INBOX")
@click.option("--username", help="New name to log in with.")
@_password
@project_option
@json_option
def reconnect(
    *, row_id: UUID, username: str | None, password_env: str | None, project: str
) -> None:
    """Replace the password of INBOX, as after an error."""
    password = secret_of(password_env, what="Password", option="password-env")

    async def reconnected(app: Opened) -> Inbox:
        return await inboxes.reconnect(
            app.conn,
            await project_id_of(app.conn, project),
            row_id,
            password=password,
            username=username,
            master=app.master_key(),
            by=operator(),
        )

    _print(execute(reconnected))


@inbox.command(epilog=examples(f"mailqueue watch inbox remove {_ID} --yes"))
@id_argument("INBOX")
@project_option
@asks_first("Stop watching inbox {row_id} and delete its notifications?")
def remove(*, row_id: UUID, project: str) -> None:
    """Stop watching INBOX; its password and notifications are deleted.

    The consent to an inbox at Gmail is revoked.
    """

    async def removed(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)

        async def remove_inbox() -> None:
            await inboxes.remove(app.conn, project_id, row_id, by=operator())

        await remove_with_consents(app, project_id, remove_inbox, inbox_id=row_id)

    execute(removed)
    click.echo(f"inbox {row_id} is no longer watched")


def _switch(inbox_id: UUID, project: str, action: InboxAction) -> None:
    async def switched(app: Opened) -> Inbox:
        project_id = await project_id_of(app.conn, project)
        return await inboxes.switch(app.conn, project_id, inbox_id, action, by=operator())

    _print(execute(switched))


def _print(one: Inbox) -> None:
    print_facts(one, pairs_of(one))
