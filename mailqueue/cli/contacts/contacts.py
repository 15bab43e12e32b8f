"""`mailqueue contact`: the persons that a project writes to."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

import click

from mailqueue.cli.contacts.files import export, import_
from mailqueue.cli.contacts.options import contact_options, fields_of
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, show
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contacts import contacts
from mailqueue.contacts.model import ContactFilter
from mailqueue.contract.contacts import Contact, ContactDetail, RemovedContact
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.projects.ids import project_id_of

COLUMNS = (
    Column("email", "EMAIL"),
    Column("first_name", "FIRST NAME"),
    Column("last_name", "LAST NAME"),
    Column("language", "LANGUAGE"),
    Column("time_zone", "TIME ZONE"),
    Column("created_at", "ADDED"),
)
_who = click.argument("who", metavar="CONTACT")


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue contact put ann@example.com --first-name Ann --time-zone Europe/Berlin",
        "mailqueue contact import customers.csv --list news",
        "mailqueue contact list --condition '$.attributes.plan == \"pro\"'",
    ),
)
def contact() -> None:
    """Manage contacts: the persons that a project writes to. CONTACT is an address or an id."""


contact.add_command(import_)
contact.add_command(export)


@contact.command(
    epilog=examples("mailqueue contact put ann@example.com --first-name Ann --attribute plan=pro")
)
@click.argument("email", metavar="EMAIL")
@contact_options
@project_option
@json_option
def put(*, email: str, project: str, **given: Any) -> None:
    """Add the contact of EMAIL, or change the given fields of it. An empty value removes one."""
    fields = fields_of(given)

    async def done(app: Opened) -> Contact:
        project_id = await project_id_of(app.conn, project)
        return await contacts.put(app.conn, project_id, email, fields)

    _print(execute(done))


@contact.command(
    epilog=examples("mailqueue contact change ann@example.com --email ann.lee@example.com")
)
@_who
@click.option("--email", metavar="EMAIL", help="New address.")
@contact_options
@project_option
@json_option
def change(*, who: str, email: str | None, project: str, **given: Any) -> None:
    """Change the given fields of CONTACT. An empty value removes one."""
    fields = fields_of(given) | ({} if email is None else {"email": email})
    if not fields:
        raise InvalidField("contact", "give at least one field to change")

    async def done(app: Opened) -> Contact:
        project_id = await project_id_of(app.conn, project)
        return await contacts.change(app.conn, project_id, who, fields)

    _print(execute(done))


@contact.command("list", epilog=examples("mailqueue contact list --having @example.com --json"))
@click.option("--having", metavar="TEXT", help="Filter by text in the address.")
@click.option("--language", metavar="TAG", help="Filter by language.")
@click.option("--time-zone", metavar="ZONE", help="Filter by time zone.")
@click.option("--condition", metavar="PATH", help="Filter by a jsonpath, as in lists.")
@limit_option(of="contacts")
@click.option("--cursor", metavar="CURSOR", help="Next cursor of the previous page.")
@project_option
@json_option
def list_(*, limit: int, cursor: str | None, project: str, **filters: str | None) -> None:
    """List contacts, newest first."""
    (before,) = key_of(cursor, UUID)

    async def listed(app: Opened) -> Page[Contact]:
        project_id = await project_id_of(app.conn, project)
        return await contacts.list_page(
            app.conn, project_id, filters=ContactFilter(**filters), before=before, limit=limit
        )

    found = execute(listed)
    print_rows(found.data, COLUMNS, document=found, nothing="no contacts")


@contact.command("show", epilog=examples("mailqueue contact show ann@example.com"))
@_who
@project_option
@json_option
def show_(*, who: str, project: str) -> None:
    """Show all fields of CONTACT, and its lists."""

    async def found(app: Opened) -> ContactDetail:
        return await contacts.show(app.conn, await project_id_of(app.conn, project), who)

    _print(execute(found))


@contact.command(epilog=examples("mailqueue contact remove ann@example.com --yes"))
@_who
@project_option
@asks_first("Remove contact {who} of project {project}, and cancel email that is pending for it?")
@json_option
def remove(*, who: str, project: str) -> None:
    """Remove CONTACT from the project and its lists, and cancel what is pending for it.

    `mailqueue erase` erases everything that is stored about a person.
    """

    async def removed(app: Opened) -> RemovedContact:
        return await contacts.remove(app.conn, await project_id_of(app.conn, project), who)

    found = execute(removed)
    print_message(
        found,
        f"contact {show(found.email)} is removed; {found.cancelled} emails were cancelled",
    )


def _print(one: Contact) -> None:
    values = asdict(one)
    if isinstance(one, ContactDetail):
        values["lists"] = ", ".join(
            f"{each.list} (not confirmed)" if each.is_pending else each.list for each in one.lists
        )
    print_facts(one, [(key.replace("_", " "), value) for key, value in values.items()])
