"""`mailqueue list`: lists of contacts."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

import click

from mailqueue.cli.contacts.contacts import COLUMNS as CONTACT_COLUMNS
from mailqueue.cli.contacts.send import send
from mailqueue.cli.support.actor import operator
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
from mailqueue.cli.support.output import Column, Command, examples, show
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contacts import lists
from mailqueue.contract.contacts import (
    ChangedMembers,
    ConditionTrial,
    Contact,
    ContactList,
    ContactLists,
    ListCount,
    MemberStatus,
    OptIn,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.projects.ids import project_id_of

_COLUMNS = (
    Column("name", "LIST"),
    Column("description", "DESCRIPTION"),
    Column("condition", "CONDITION"),
    Column("opt_in", "OPT-IN"),
)
_name = click.argument("name", metavar="LIST")
_members = click.argument("who", metavar="CONTACT...", nargs=-1, required=True)


def _list_options(command: Command) -> Command:
    for add in (
        click.option(
            "--opt-in",
            type=click.Choice([one.value for one in OptIn]),
            help="Which contacts get mail to it: all, those with recorded consent, or those that "
            "confirmed by a link.  [default: none]",
        ),
        click.option(
            "--confirm-template",
            metavar="SLUG",
            help="Template of the email that asks to confirm.  [default: built-in text]",
        ),
        click.option("--condition", metavar="PATH", help="jsonpath that contacts must satisfy."),
        click.option("--description", metavar="TEXT", help="What the list is for."),
    ):
        command = add(command)
    return command


@click.group(
    "list",
    cls=CommandGroup,
    epilog=examples(
        "mailqueue list add news --description 'Monthly news'",
        "mailqueue list members add news ann@example.com bob@example.com",
        "mailqueue list send news --template weekly-digest",
    ),
)
def list_() -> None:
    """Manage lists of contacts. The name of a list may stand where a recipient may."""


list_.add_command(send)


@list_.command(
    epilog=examples("mailqueue list add german-pros --condition '$.attributes.plan == \"pro\"'")
)
@_name
@_list_options
@project_option
@json_option
def add(*, name: str, project: str, **given: Any) -> None:
    """Add LIST: of contacts that are added to it, or of all that satisfy a condition."""
    fields = {key: value for key, value in given.items() if value is not None}

    async def added(app: Opened) -> ContactList:
        project_id = await project_id_of(app.conn, project)
        return await lists.add(app.conn, project_id, name, given=fields, by=operator())

    _print(execute(added))


@list_.command(epilog=examples("mailqueue list change news --opt-in confirmed"))
@_name
@_list_options
@project_option
@json_option
def change(*, name: str, project: str, **given: Any) -> None:
    """Change settings of LIST. An empty value removes one."""
    fields = {key: value or None for key, value in given.items() if value is not None}
    if not fields:
        raise InvalidField("list", "give at least one setting to change")

    async def changed(app: Opened) -> ContactList:
        project_id = await project_id_of(app.conn, project)
        return await lists.change(app.conn, project_id, name, given=fields, by=operator())

    _print(execute(changed))


@list_.command("list", epilog=examples("mailqueue list list --project shop --json"))
@project_option
@json_option
def list_lists(*, project: str) -> None:
    """List the lists of a project by name."""

    async def listed(app: Opened) -> list[ContactList]:
        return await lists.list_(app.conn, await project_id_of(app.conn, project))

    found = execute(listed)
    print_rows(found, _COLUMNS, document=ContactLists(found), nothing="no lists")


@list_.command("show", epilog=examples("mailqueue list show news"))
@_name
@project_option
@json_option
def show_(*, name: str, project: str) -> None:
    """Show the settings of LIST."""

    async def found(app: Opened) -> ContactList:
        return await lists.get(app.conn, await project_id_of(app.conn, project), name)

    _print(execute(found))


@list_.command(epilog=examples("mailqueue list remove news --yes"))
@_name
@project_option
@asks_first("Remove list {name} of project {project}?")
def remove(*, name: str, project: str) -> None:
    """Remove LIST. Its contacts stay."""

    async def removed(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)
        await lists.remove(app.conn, project_id, name, by=operator())

    execute(removed)
    click.echo(f"list {show(name)} is removed")


@list_.command(epilog=examples("mailqueue list count news --category marketing"))
@_name
@click.option("--category", default="transactional", show_default=True, help="Category of mail.")
@project_option
@json_option
def count(*, name: str, category: str, project: str) -> None:
    """Count the contacts that mail to LIST would go to."""

    async def counted(app: Opened) -> ListCount:
        project_id = await project_id_of(app.conn, project)
        return await lists.count(app.conn, project_id, name, category=category)

    found = execute(counted)
    print_facts(found, list(asdict(found).items()))


@list_.command(
    "try", epilog=examples("mailqueue list try '$.attributes.plan == \"pro\"' --project shop")
)
@click.argument("condition", metavar="CONDITION")
@project_option
@json_option
def try_(*, condition: str, project: str) -> None:
    """Count the contacts that CONDITION, a jsonpath, selects, and show some of them."""

    async def tried(app: Opened) -> ConditionTrial:
        project_id = await project_id_of(app.conn, project)
        return await lists.try_condition(app.conn, project_id, condition)

    found = execute(tried)
    print_rows(found.examples, CONTACT_COLUMNS, document=found, nothing="no contacts")


@list_.group(cls=CommandGroup)
def members() -> None:
    """Add contacts to a list, remove them, list them. CONTACT is an address or an id."""


@members.command("add", epilog=examples("mailqueue list members add news ann@example.com"))
@_name
@_members
@project_option
@json_option
def add_members(*, name: str, who: tuple[str, ...], project: str) -> None:
    """Add contacts to LIST."""
    _change(name, who, project, is_added=True)


@members.command("remove", epilog=examples("mailqueue list members remove news ann@example.com"))
@_name
@_members
@project_option
@json_option
def remove_members(*, name: str, who: tuple[str, ...], project: str) -> None:
    """Remove contacts from LIST."""
    _change(name, who, project, is_added=False)


@members.command(
    "list",
    epilog=examples(
        "mailqueue list members list news --limit 1000",
        "mailqueue list members list news --status pending",
    ),
)
@_name
@click.option(
    "--status",
    type=click.Choice([one.value for one in MemberStatus]),
    default=MemberStatus.ACTIVE.value,
    show_default=True,
    help="active: they get mail to the list; pending: they were added and have not confirmed.",
)
@limit_option(of="contacts")
@click.option("--cursor", metavar="CURSOR", help="Next cursor of the previous page.")
@project_option
@json_option
def list_members(*, name: str, status: str, limit: int, cursor: str | None, project: str) -> None:
    """List the contacts that mail to LIST would go to, or those that have not confirmed."""
    (after,) = key_of(cursor, UUID)

    async def listed(app: Opened) -> Page[Contact]:
        project_id = await project_id_of(app.conn, project)
        return await lists.members(
            app.conn, project_id, name, status=MemberStatus(status), after=after, limit=limit
        )

    found = execute(listed)
    print_rows(found.data, CONTACT_COLUMNS, document=found, nothing="no contacts")


def _change(name: str, who: tuple[str, ...], project: str, *, is_added: bool) -> None:
    async def changed(app: Opened) -> ChangedMembers:
        project_id = await project_id_of(app.conn, project)
        return await lists.change_members(app.conn, project_id, name, who, is_added=is_added)

    found = execute(changed)
    done = "added to" if is_added else "removed from"
    print_message(found, f"{found.changed} contacts {done} {show(name)}")


def _print(one: ContactList) -> None:
    print_facts(one, [(key.replace("_", " "), value) for key, value in asdict(one).items()])
