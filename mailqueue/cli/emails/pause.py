"""`mailqueue pause`, `resume` and `pauses`: stop sending for a time, with a reason."""

from datetime import datetime, timedelta

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_rows
from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.instants import end_options
from mailqueue.cli.support.output import Column, Command, examples, show
from mailqueue.cli.support.progress import progress
from mailqueue.contract.operations import BulkResult, Pause, Resumed
from mailqueue.core.errors import InvalidField
from mailqueue.operations import pausing, platform
from mailqueue.operations.pausing import PauseKind, Target
from mailqueue.projects import manage as projects_manage

_PAUSES = (
    Column("project", "PROJECT"),
    Column("kind", "KIND"),
    Column("name", "NAME"),
    Column("until", "UNTIL"),
    Column("reason", "REASON"),
    Column("actor", "BY"),
)


PLATFORM = "platform"
"""All sending; it has no name."""


def _target_arguments(command: Command) -> Command:
    kinds = [*(each.value for each in PauseKind), PLATFORM]
    kind = click.argument("kind", type=click.Choice(kinds))
    name = click.argument("name", metavar="[NAME]", required=False)
    project = click.option(
        "--project",
        default="default",
        show_default=True,
        help="Project of the campaign, domain or account.",
    )
    return kind(name(project(command)))


@click.command(
    epilog=examples(
        "mailqueue pause campaign spring --for 2h --reason 'wrong price'",
        "mailqueue pause domain example.com --for 30min --reason 'they throttle us'",
        "mailqueue pause project shop --reason 'moving house'",
        "mailqueue pause sender relay --project shop --until 2030-01-31T08:00+01:00",
        "mailqueue pause platform --reason 'the provider reports an incident'",
    )
)
@_target_arguments
@end_options
@click.option("--reason", help="Reason, shown by `mailqueue why`.")
@click.option(
    "--ahead", "is_ahead", is_flag=True, help="Pause a campaign before its first email is queued."
)
@json_option
def pause(
    *,
    kind: str,
    name: str | None,
    project: str,
    until: datetime | timedelta | None,
    reason: str | None,
    is_ahead: bool,
) -> None:
    """Pause the emails of a project, sender account, campaign or recipient domain, or all emails.

    It takes effect at once, for queued emails and for emails accepted later. Emails keep their
    position and their expiry. Sending resumes by itself when the pause ends. A campaign that no
    email has is refused unless --ahead is given. `platform`, which needs a reason, pauses all
    sending: what a worker holds is sent, and no more is claimed.
    """
    target = _target(kind, name, project)
    if target is None:
        if not reason:
            raise click.UsageError("--reason is needed to pause all sending")
        done = execute(
            lambda app: platform.pause(app.conn, until=until, reason=reason, by=operator())
        )
    else:
        is_checked = target.kind is PauseKind.CAMPAIGN and not is_ahead
        done = run(_paused(target, until, reason, is_checked=is_checked))
    print_message(
        done, f"paused; {done.emails} queued emails set aside" if done.emails else "paused"
    )


@click.command(
    epilog=examples(
        "mailqueue resume campaign spring",
        "mailqueue resume sender relay",
        "mailqueue resume platform",
    )
)
@_target_arguments
@json_option
def resume(*, kind: str, name: str | None, project: str) -> None:
    """End a pause; waiting emails are sent."""
    target = _target(kind, name, project)
    execute(lambda app: _resumed(app, target))
    print_message(Resumed(resumed=True), "resumed")


@click.command(epilog=examples("mailqueue pauses", "mailqueue pauses --project shop --json"))
@click.option("--project", help="Filter by project.")
@json_option
def pauses(*, project: str | None) -> None:
    """List current pauses, with end and reason."""
    found = execute(lambda app: _listed(app, project))
    print_rows(found, _PAUSES, row=_pause_row, nothing="nothing is paused")


def _target(kind: str, name: str | None, project: str) -> Target | None:
    """Return what is paused; None: the platform."""
    if kind == PLATFORM:
        if name is not None:
            raise click.UsageError("platform takes no NAME")
        return None
    if name is None:
        raise click.UsageError(f"NAME of the {kind} is needed")
    return Target(PauseKind(kind), name if kind == PauseKind.PROJECT else project, name)


def _pause_row(one: Pause) -> dict[str, object]:
    return {
        "project": one.project or "all",
        "kind": one.kind,
        "name": one.name,
        "until": show(one.until) if one.until else None,
        "reason": one.reason,
        "actor": one.actor,
    }


async def _paused(
    target: Target, until: datetime | timedelta | None, reason: str | None, *, is_checked: bool
) -> BulkResult:
    with progress("setting aside", None) as advance:
        async with opened() as app:
            if is_checked:
                await _check_campaign(app, target)
            return await pausing.pause(
                app.conn, target, until=until, reason=reason, by=operator(), advance=advance
            )


async def _check_campaign(app: Opened, target: Target) -> None:
    project = await projects_manage.find(app.conn, target.project)
    try:
        await pausing.check_campaign(app.conn, project.id, target.name)
    except InvalidField as exc:
        raise InvalidField(exc.field, f"{exc.why}; --ahead pauses it before its first") from None


async def _resumed(app: Opened, target: Target | None) -> None:
    if target is None:
        await platform.resume(app.conn, by=operator())
        return
    await pausing.resume(app.conn, target, by=operator())


async def _listed(app: Opened, project: str | None) -> list[Pause]:
    return await pausing.list_all(app.conn, project=project)
