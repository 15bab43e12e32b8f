"""`mailqueue watch rule`: which mail an inbox user is notified of."""

from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.cli.watch.options import (
    id_argument,
    of_user_option,
    pairs_of,
    user_option,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import FilterRule, RuleType
from mailqueue.projects.ids import project_id_of
from mailqueue.watch import rules

_COLUMNS = (
    Column("id", "RULE"),
    Column("user_id", "USER"),
    Column("rule_type", "TYPE"),
    Column("pattern", "PATTERN"),
    Column("priority", "PRIORITY", numeric=True),
    Column("is_active", "ACTIVE"),
)
_ID = "0197b8f0-0000-7000-8000-0000000000c5"
_USER = "0197b8f0-0000-7000-8000-0000000000c1"
_type = click.argument(
    "rule_type", metavar="sender|subject", type=click.Choice([one.value for one in RuleType])
)
_pattern = click.argument("pattern", metavar="PATTERN")


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue watch rule try subject invoice --subject 'Invoice 81'",
        f"mailqueue watch rule add subject invoice --user {_USER}",
    ),
)
def rule() -> None:
    """Manage filter rules; an inbox user without an active one is notified of all mail."""


@rule.command(epilog=examples(f"mailqueue watch rule add sender example.com --user {_USER}"))
@_type
@_pattern
@of_user_option
@click.option("--priority", type=int, default=0, show_default=True, help="Lowest first.")
@project_option
@json_option
def add(*, rule_type: str, pattern: str, user_id: UUID, priority: int, project: str) -> None:
    """Notify of mail whose sender or subject matches PATTERN."""

    async def added(app: Opened) -> FilterRule:
        return await rules.add(
            app.conn,
            await project_id_of(app.conn, project),
            user_id,
            rule_type=rule_type,
            pattern=pattern,
            priority=priority,
            by=operator(),
        )

    found = execute(added)
    print_facts(found, pairs_of(found))


@rule.command(epilog=examples(f"mailqueue watch rule change {_ID} --disable"))
@id_argument("RULE")
@click.option("--pattern", help="New pattern.")
@click.option("--priority", type=int, help="Lowest first.")
@click.option("--enable/--disable", "is_active", default=None, help="Whether it is applied.")
@project_option
@json_option
def change(
    *,
    row_id: UUID,
    pattern: str | None,
    priority: int | None,
    is_active: bool | None,
    project: str,
) -> None:
    """Change RULE."""

    async def changed(app: Opened) -> FilterRule:
        return await rules.change(
            app.conn,
            await project_id_of(app.conn, project),
            row_id,
            pattern=pattern,
            priority=priority,
            is_active=is_active,
            by=operator(),
        )

    found = execute(changed)
    print_facts(found, pairs_of(found))


@rule.command("list", epilog=examples("mailqueue watch rule list --json"))
@user_option
@limit_option()
@project_option
@json_option
def list_(*, user_id: UUID | None, limit: int, project: str) -> None:
    """List filter rules in the order they were added."""

    async def listed(app: Opened) -> list[FilterRule]:
        project_id = await project_id_of(app.conn, project)
        return await rules.list_page(app.conn, project_id, user_id=user_id, limit=limit)

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@rule.command(epilog=examples(f"mailqueue watch rule remove {_ID}"))
@id_argument("RULE")
@project_option
def remove(*, row_id: UUID, project: str) -> None:
    """Remove RULE."""

    async def removed(app: Opened) -> None:
        await rules.remove(app.conn, await project_id_of(app.conn, project), row_id, by=operator())

    execute(removed)
    click.echo(f"filter rule {row_id} is removed")


@rule.command(
    "try",
    epilog=examples(
        "mailqueue watch rule try subject invoice --subject 'Invoice 81'",
        "mailqueue watch rule try sender example.com --sender shop@mail.example.com",
    ),
)
@_type
@_pattern
@click.option("--sender", default="", metavar="ADDRESS", help="Sender of a sample mail.")
@click.option("--subject", default="", help="Subject of a sample mail.")
@json_option
def try_(*, rule_type: str, pattern: str, sender: str, subject: str) -> None:
    """Show whether a sample mail matches PATTERN. Nothing is kept."""
    found = rules.try_out(RuleType(rule_type), pattern, sender=sender, subject=subject)
    print_message(found, "it matches" if found.is_match else "it does not match")
