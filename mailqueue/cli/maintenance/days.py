"""`mailqueue archive days` and `keep`: how long each kind of record is kept."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_rows
from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.output import NOTHING, Column, examples
from mailqueue.contract.page import Page
from mailqueue.contract.projects import ChangedRetention, ResetRetention, Retention
from mailqueue.core.errors import InvalidField
from mailqueue.maintenance.archive import manifest

_COLUMNS = (
    Column("project", "PROJECT"),
    Column("kind", "KIND"),
    Column("hot_days", "HOT DAYS", numeric=True),
    Column("warm_days", "WARM UNTIL", numeric=True),
    Column("keep_days", "KEPT UNTIL", numeric=True),
)
_NO_END = "ever"


@click.command(epilog=examples("mailqueue archive days", "mailqueue archive days --project shop"))
@click.option("--project", help="Show the rules of this project and the general rules.")
@json_option
def days(*, project: str | None) -> None:
    """Show how many days each kind of record stays in its table, in warm files, and in all.

    Projects are listed if they have rules of their own.
    """
    found = run(_days(project))
    print_rows(found, _COLUMNS, row=_row, document=Page(found, None))


@click.command(
    epilog=examples(
        "mailqueue archive keep email_history --project shop --hot 30 --warm 365 --until 2557",
        "mailqueue archive keep email_contents --project shop --hot 14 --until 14",
        "mailqueue archive keep opens_clicks --hot 365 --until 365",
        "mailqueue archive keep email_history --project shop --as-all",
    )
)
@click.argument("kind")
@click.option("--project", help="Set the rule of one project.  [default: the general rule]")
@click.option("--hot", type=int, metavar="DAYS", help="Minimum days in its table.")
@click.option(
    "--warm", type=int, metavar="DAYS", help="Age in days at which files move to cold storage."
)
@click.option(
    "--until",
    metavar="DAYS",
    help="Age in days at which it is deleted, or `ever` to keep it; as --hot: no archive files.",
)
@click.option("--as-all", is_flag=True, help="Remove the project's own rule.")
@json_option
def keep(
    *,
    kind: str,
    project: str | None,
    hot: int | None,
    warm: int | None,
    until: str | None,
    as_all: bool,
) -> None:
    """Set how many days a kind of record is kept, counted from the end of its month."""
    if as_all:
        if project is None:
            raise click.UsageError("--as-all needs --project: it removes the rule of a project")
        changed = execute(lambda app: _reset(app, kind, project))
        print_message(ResetRetention(changed), "as for all" if changed else "no rule")
        return
    if hot is None or until is None:
        raise click.UsageError("give --hot and --until")
    owner = project or manifest.DEFAULT_RULE
    rule = Retention(kind, hot, warm, _end(until), is_own=True, project=owner)
    before = execute(lambda app: _keep(app, rule))
    print_message(
        ChangedRetention(before, rule),
        f"{rule.project}, {kind}: {_rule_text(before)} before, now {_rule_text(rule)}",
    )


def _end(text: str) -> int | None:
    if text == _NO_END:
        return None
    if not text.isdigit():
        raise InvalidField("--until", f"must be a number of days or {_NO_END}, got {text!r}")
    return int(text)


def _rule_text(rule: Retention | None) -> str:
    if rule is None:
        return "as for all"
    end = _NO_END if rule.keep_days is None else rule.keep_days
    return f"{rule.hot_days} days hot, kept until {end}"


def _row(rule: Retention) -> dict[str, object]:
    return {
        "project": rule.project,
        "kind": rule.kind,
        "hot_days": rule.hot_days,
        "warm_days": NOTHING if rule.warm_days is None else rule.warm_days,
        "keep_days": _NO_END if rule.keep_days is None else rule.keep_days,
    }


async def _days(project: str | None) -> list[Retention]:
    async with opened() as app:
        found = await manifest.days(app.conn, project)
    return [each for each in found if each.is_own]


async def _keep(app: Opened, rule: Retention) -> Retention | None:
    async with app.conn.transaction():
        return await manifest.keep(app.conn, rule, by=operator())


async def _reset(app: Opened, kind: str, project: str) -> bool:
    async with app.conn.transaction():
        return await manifest.reset(app.conn, kind, project=project, by=operator())
