"""`mailqueue project`: projects and the settings of their emails."""

from dataclasses import replace
from datetime import timedelta

import click

from mailqueue.cli.projects.audit import project_audit
from mailqueue.cli.projects.settings import add, change, list_, show
from mailqueue.cli.projects.status import activate, remove, stats, suspend, usage
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.projects import RetrySchedule
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.mail.accept import retry_schedule
from mailqueue.mail.accept.retry_schedule import RETRY_SCHEDULES, Exhausted, OfCategory, RetryWaits

_COLUMNS = (
    Column("category", "CATEGORY"),
    Column("steps", "WAITS"),
    Column("max_attempts", "ATTEMPTS", numeric=True),
    Column("soft", "SOFT BOUNCES"),
    Column("on_exhausted", "THEN"),
)


@click.group(
    cls=CommandGroup,
    old_names={"set": "change", "delete": "remove", "ladder": "retries"},
    epilog=examples(
        "mailqueue project add shop",
        "mailqueue project change shop --from shop@example.com",
        "mailqueue project suspend shop --reason 'unpaid since May'",
        "mailqueue project retries shop documents --category marketing",
    ),
)
def project() -> None:
    """Add, change, suspend and remove projects."""


for _command in (add, list_, show, change, suspend, activate, remove, stats, usage, project_audit):
    project.add_command(_command)


@project.command(
    epilog=examples(
        "mailqueue project retries shop",
        "mailqueue project retries shop documents",
        "mailqueue project retries shop outbox --category orders",
        "mailqueue project retries shop --category otp --steps 10s,30s,2min --max-attempts 4",
        "mailqueue project retries shop default --category otp",
    )
)
@click.argument("name", metavar="PROJECT")
@click.argument("known", metavar="[default|documents|outbox]", required=False)
@click.option(
    "--category", default="", help="Category the schedule is for.  [default: all other categories]"
)
@click.option(
    "--steps", metavar="WAIT,WAIT,…", help="Delays between attempts; the last one repeats."
)
@click.option(
    "--max-attempts",
    type=int,
    help="Maximum number of attempts.  [default: until the email expires]",
)
@click.option(
    "--soft-wait",
    help="Longest delay after a full mailbox; `none` uses --steps.  [default: 24h]",
)
@click.option(
    "--soft-retries", type=int, help="Maximum retries after a full mailbox.  [default: 3]"
)
@click.option(
    "--on-exhausted",
    metavar="fail|hold",
    help="What becomes of an email after its last attempt: it fails, or is held until a person"
    " decides.  [default: fail]",
)
@json_option
def retries(
    *,
    name: str,
    known: str | None,
    category: str,
    steps: str | None,
    max_attempts: int | None,
    soft_wait: str | None,
    soft_retries: int | None,
    on_exhausted: str | None,
) -> None:
    """Show or set the retry schedule of a project: when temporarily refused emails are retried.

    Each delay varies at random by up to a fifth. An email ends at its own max_attempts and when
    it expires, whatever the schedule says.
    """
    options = (steps, max_attempts, soft_wait, soft_retries, on_exhausted)
    chosen = _chosen(known, *options)
    is_change = any(given is not None for given in (known, *options))
    found = execute(lambda app: _done(app, name, category, chosen, is_change=is_change))
    print_rows(found, _COLUMNS, row=_row, document=[_document(each) for each in found])


async def _done(
    app: Opened, name: str, category: str, chosen: RetryWaits | None, *, is_change: bool
) -> list[OfCategory]:
    if is_change:
        await retry_schedule.choose(app.conn, name, category=category, schedule=chosen)
    return await retry_schedule.list_all(app.conn, name)


def _chosen(
    known: str | None,
    steps: str | None,
    max_attempts: int | None,
    soft_wait: str | None,
    soft_retries: int | None,
    on_exhausted: str | None,
) -> RetryWaits | None:
    """Return the retry schedule; None is the default one, which has no row."""
    if known is not None and known not in RETRY_SCHEDULES:
        raise InvalidField("schedule", f"must be {' or '.join(RETRY_SCHEDULES)}, got {known!r}")
    asked = RETRY_SCHEDULES[known or "default"]
    if steps is not None:
        asked = replace(asked, steps=tuple(_wait("steps", word) for word in steps.split(",")))
    if max_attempts is not None:
        asked = replace(asked, max_attempts=max_attempts)
    if soft_wait is not None:
        wait = None if soft_wait == "none" else _wait("soft_wait", soft_wait)
        asked = replace(asked, soft_wait=wait)
    if soft_retries is not None:
        asked = replace(asked, soft_retries=soft_retries)
    if on_exhausted is not None:
        if on_exhausted not in list(Exhausted):
            raise InvalidField("on_exhausted", f"must be fail or hold, got {on_exhausted!r}")
        asked = replace(asked, on_exhausted=Exhausted(on_exhausted))
    return None if asked == retry_schedule.DEFAULT else asked


def _wait(field: str, text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as exc:
        raise InvalidField(field, str(exc)) from None


def _document(each: OfCategory) -> RetrySchedule:
    wait = each.schedule.soft_wait
    return RetrySchedule(
        category=each.category or None,
        steps_seconds=[step.total_seconds() for step in each.schedule.steps],
        max_attempts=each.schedule.max_attempts,
        soft_wait_seconds=None if wait is None else wait.total_seconds(),
        soft_retries=each.schedule.soft_retries,
        on_exhausted=each.schedule.on_exhausted,
    )


def _row(each: OfCategory) -> dict[str, object]:
    soft = each.schedule.soft_wait
    return {
        "category": each.category or "all others",
        "steps": ", ".join(str(step) for step in each.schedule.steps) + ", …",
        "max_attempts": each.schedule.max_attempts,
        "soft": None if soft is None else f"after {soft}, {each.schedule.soft_retries} times",
        "on_exhausted": each.schedule.on_exhausted,
    }
