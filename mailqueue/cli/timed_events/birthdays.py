"""`mailqueue birthday`: what is done on birthdays of contacts."""

from dataclasses import asdict
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contract.automation.timed_events import BirthdayRule, LeapDay
from mailqueue.projects.ids import project_id_of
from mailqueue.timed_events import birthdays


@click.group(
    cls=CommandGroup,
    epilog=examples("mailqueue birthday set --template birthday", "mailqueue birthday show"),
)
def birthday() -> None:
    """Send mail or call a webhook on birthdays of contacts."""


@birthday.command("show", epilog=examples("mailqueue birthday show --project shop --json"))
@project_option
@json_option
def show_(*, project: str) -> None:
    """Show the birthday rule of a project."""

    async def found(app: Opened) -> BirthdayRule:
        return await birthdays.show(app.conn, await project_id_of(app.conn, project))

    _print(execute(found))


@birthday.command(
    "set",
    epilog=examples("mailqueue birthday set --template birthday --time 08:30 --leap-day march_1"),
)
@click.option(
    "--time",
    "local_time",
    metavar="HH:MM",
    default="09:00",
    show_default=True,
    help="Time of the day in the contact's time zone.",
)
@click.option(
    "--leap-day",
    type=click.Choice([one.value for one in LeapDay]),
    default=LeapDay.FEBRUARY_28.value,
    show_default=True,
    help="Birthday of those born on 29 February in other years.",
)
@click.option("--template", metavar="SLUG", help="Template of the email.")
@click.option("--webhook", "webhook_id", type=click.UUID, help="Webhook that is called instead.")
@project_option
@json_option
def set_(
    *, local_time: str, leap_day: str, template: str | None, webhook_id: UUID | None, project: str
) -> None:
    """Set what is done on birthdays; workers then plan those of all contacts."""

    if (template is None) == (webhook_id is None):
        raise click.UsageError("give either --template or --webhook")

    async def made(app: Opened) -> BirthdayRule:
        return await birthdays.put(
            app.conn,
            await project_id_of(app.conn, project),
            local_time=local_time,
            leap_day=LeapDay(leap_day),
            template=template,
            webhook_id=webhook_id,
            payload={},
            by=operator(),
        )

    _print(execute(made))


@birthday.command(epilog=examples("mailqueue birthday remove --yes"))
@project_option
@asks_first("End birthdays of project {project}, and remove those that are pending?")
def remove(*, project: str) -> None:
    """End birthdays of a project, and remove those that are pending."""

    async def removed(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)
        await birthdays.remove(app.conn, project_id, by=operator())

    execute(removed)
    click.echo(f"birthdays of project {project} are ended")


def _print(one: BirthdayRule) -> None:
    print_facts(one, [(name.replace("_", " "), value) for name, value in asdict(one).items()])
