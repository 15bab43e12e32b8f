"""Options and arguments of the commands for events and event rules."""

import json
from collections.abc import Mapping
from typing import Any, TextIO

import click

from mailqueue.cli.support.output import Command
from mailqueue.contract.automation.inbox import RuleAction, RulePriority
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration

payload_argument = click.argument("payload", metavar="FILE", type=click.File(encoding="utf-8"))
headers_option = click.option(
    "--header",
    "headers",
    metavar="NAME=VALUE",
    multiple=True,
    help="Header of the message, such as CorrelationId=81; may be repeated.",
)


def rule_options(command: Command) -> Command:
    """Add options for the fields of a rule, which the command receives by name."""
    for add in (
        click.option(
            "--enable/--disable",
            "is_enabled",
            default=None,
            help="Whether it acts on events.  [default: disabled]",
        ),
        click.option("--sequence", metavar="NAME", help="Sequence of a rule about contacts."),
        click.option("--key", metavar="PATH", help="Key of the email, such as $.orderId."),
        click.option(
            "--delay", metavar="DURATION", help="Time after the event to send, such as 3d."
        ),
        click.option("--tag", "tags", multiple=True, help="Tag of the email; may be repeated."),
        click.option(
            "--priority",
            type=click.Choice([one.value for one in RulePriority]),
            help="Priority of the email.  [default: normal]",
        ),
        click.option(
            "--variable",
            "variables",
            metavar="NAME=VALUE",
            multiple=True,
            help="Variable of the template: a path such as $.total, or text; may be repeated.",
        ),
        click.option("--language", metavar="PATH", help="Language of the email, or its path."),
        click.option(
            "--recipient-name", metavar="PATH", help="Name of the recipient, or its path."
        ),
        click.option(
            "--recipient", metavar="PATH", help="Address, or its path, such as $.customer.email."
        ),
        click.option("--template", metavar="SLUG", help="Template of the email."),
        click.option(
            "--action",
            type=click.Choice([one.value for one in RuleAction]),
            help="Queue an email, cancel those made under the key, enroll the recipient,"
            " end enrollments, or record the event for sequences.  [default: mail]",
        ),
        click.option(
            "--condition",
            metavar="JSONPATH",
            help='Condition on the payload, such as $.total > 100; "" is none.',
        ),
    ):
        command = add(command)
    return command


def fields_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a rule that options name; "" removes a text.

    Raises:
        InvalidField: a duration or a variable is malformed.
    """
    found = {name: given[name] or None for name in given if given[name] is not None}
    found = {name: one for name, one in found.items() if given[name] != ()}
    if "is_enabled" in found:
        found["is_enabled"] = given["is_enabled"]
    if "tags" in found:
        found["tags"] = list(given["tags"])
    if "variables" in found:
        found["variables"] = pairs_of("variable", given["variables"])
    if "delay" in found:
        found["delay_seconds"] = _seconds(found.pop("delay") or "0s")
    return found


def pairs_of(field: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Return NAME=VALUE texts as a mapping.

    Raises:
        InvalidField: a text has no name or no equals sign.
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InvalidField(field, f"must be NAME=VALUE, got {text!r}")
        found[name] = value
    return found


def payload_of(file: TextIO) -> Any:
    """Return the JSON value of a file.

    Raises:
        InvalidField: it is not JSON.
    """
    try:
        return json.load(file)
    except (ValueError, RecursionError) as exc:
        raise InvalidField("payload", f"is not JSON: {exc}") from None


def _seconds(text: str) -> int:
    try:
        return round(parse_duration(text).total_seconds())
    except (ValueError, OverflowError) as exc:
        raise InvalidField("delay", str(exc)) from None
