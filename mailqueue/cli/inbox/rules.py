"""`mailqueue event-rule`: what is done with events of other services."""

from dataclasses import asdict
from typing import Any, TextIO

import click

from mailqueue.cli.inbox.options import (
    fields_of,
    headers_option,
    pairs_of,
    payload_argument,
    payload_of,
    rule_options,
)
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, show
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contract.automation.inbox import EventRule, EventRules, RuleTrial
from mailqueue.core.errors import InvalidField
from mailqueue.inbox import rules
from mailqueue.projects.ids import project_id_of

_COLUMNS = (
    Column("name", "RULE"),
    Column("event_type", "EVENT"),
    Column("condition", "CONDITION"),
    Column("action", "ACTION"),
    Column("template", "TEMPLATE"),
    Column("is_enabled", "ENABLED"),
    Column("version", "VERSION", numeric=True),
)
_name = click.argument("name", metavar="RULE")


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue event-rule add order-placed --type PlaceOrderCommand"
        " --template order-confirmation --recipient '$.customer.email'",
        "mailqueue event-rule try order-placed order.json",
        "mailqueue event-rule change order-placed --enable",
    ),
)
def event_rule() -> None:
    """Manage event rules, which queue or cancel emails when a service reports an event."""


@event_rule.command(
    epilog=examples(
        "mailqueue event-rule add order-placed --type PlaceOrderCommand"
        " --template order-confirmation --recipient '$.customer.email'"
        " --variable 'order_id=$.orderId' --key '$.orderId'",
        "mailqueue event-rule add order-cancelled --type CancelOrderCommand --action cancel"
        " --key '$.orderId' --enable",
    )
)
@_name
@click.option("--type", "event_type", required=True, metavar="TYPE", help="Type of the events.")
@rule_options
@project_option
@json_option
def add(*, name: str, project: str, **given: Any) -> None:
    """Add RULE, disabled unless --enable is given."""
    fields = fields_of(given)

    async def added(app: Opened) -> EventRule:
        project_id = await project_id_of(app.conn, project)
        return await rules.add(app.conn, project_id, name, given=fields, by=operator())

    _print(execute(added))


@event_rule.command(
    epilog=examples(
        "mailqueue event-rule change order-placed --enable",
        "mailqueue event-rule change order-placed --condition '$.total > 100' --priority high",
    )
)
@_name
@click.option("--type", "event_type", metavar="TYPE", help="Type of the events.")
@rule_options
@project_option
@json_option
def change(*, name: str, project: str, **given: Any) -> None:
    """Change settings of RULE. Given variables, and given tags, replace all."""
    fields = fields_of(given)
    if not fields:
        raise InvalidField("rule", "give at least one setting to change")

    async def changed(app: Opened) -> EventRule:
        project_id = await project_id_of(app.conn, project)
        return await rules.change(app.conn, project_id, name, given=fields, by=operator())

    _print(execute(changed))


@event_rule.command("list", epilog=examples("mailqueue event-rule list --project shop --json"))
@project_option
@json_option
def list_(*, project: str) -> None:
    """List event rules by name."""

    async def listed(app: Opened) -> list[EventRule]:
        return await rules.list_(app.conn, await project_id_of(app.conn, project))

    found = execute(listed)
    print_rows(found, _COLUMNS, document=EventRules(found))


@event_rule.command("show", epilog=examples("mailqueue event-rule show order-placed"))
@_name
@project_option
@json_option
def show_(*, name: str, project: str) -> None:
    """Show all settings of RULE."""

    async def found(app: Opened) -> EventRule:
        return await rules.get(app.conn, await project_id_of(app.conn, project), name)

    _print(execute(found))


@event_rule.command(epilog=examples("mailqueue event-rule remove order-placed --yes"))
@_name
@project_option
@asks_first("Remove event rule {name} of project {project}?")
def remove(*, name: str, project: str) -> None:
    """Remove RULE. What it did with events stays recorded."""

    async def removed(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)
        await rules.remove(app.conn, project_id, name, by=operator())

    execute(removed)
    click.echo(f"event rule {show(name)} is removed")


@event_rule.command(
    "try",
    epilog=examples(
        "mailqueue event-rule try order-placed order.json",
        "mailqueue event-rule try order-placed - --json",
    ),
)
@_name
@payload_argument
@headers_option
@project_option
@json_option
def try_(*, name: str, payload: TextIO, headers: tuple[str, ...], project: str) -> None:
    """Show what RULE, enabled or not, would do with the payload in FILE. Nothing is kept."""
    sample = payload_of(payload)
    given = pairs_of("header", headers)

    async def tried(app: Opened) -> RuleTrial:
        project_id = await project_id_of(app.conn, project)
        return await rules.try_out(app.conn, project_id, name, payload=sample, headers=given)

    found = execute(tried)
    pairs = (
        {**asdict(found), **{f"email {k}": v for k, v in asdict(found)["email"].items()}}
        if (found.email is not None)
        else asdict(found)
    )
    pairs.pop("email")
    print_facts(found, [(key.replace("_", " "), value) for key, value in pairs.items()])


def _print(one: EventRule) -> None:
    print_facts(one, [(key.replace("_", " "), value) for key, value in asdict(one).items()])
