"""Options of the commands for contacts and lists."""

import json
from collections.abc import Mapping
from typing import Any

import click

from mailqueue.cli.support.output import Command
from mailqueue.core.errors import InvalidField


def contact_options(command: Command) -> Command:
    """Add options for the fields of a contact, which the command receives by name."""
    for add in (
        click.option("--consent-wording", metavar="TEXT", help="What the person agreed to."),
        click.option("--consent-source", metavar="TEXT", help="Where the person agreed."),
        click.option("--consented-at", metavar="TIME", help="When the person agreed: RFC 3339."),
        click.option(
            "--attribute",
            "attributes",
            metavar="NAME=VALUE",
            multiple=True,
            help="Value by name, JSON or text; may be repeated. Without a value it is removed.",
        ),
        click.option("--language", metavar="TAG", help="Language, such as de or pt-BR."),
        click.option("--date-of-birth", metavar="DATE", help="Date of birth, as 1990-05-31."),
        click.option("--time-zone", metavar="ZONE", help="Time zone, such as Europe/Berlin."),
        click.option("--last-name", metavar="NAME", help="Last name."),
        click.option("--first-name", metavar="NAME", help="First name."),
    ):
        command = add(command)
    return command


def fields_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a contact that were given; an empty text removes one. Pure."""
    found = {
        name: value or None
        for name, value in given.items()
        if name != "attributes" and value is not None
    }
    if given["attributes"]:
        found["attributes"] = dict(_attribute(each) for each in given["attributes"])
    return found


def _attribute(pair: str) -> tuple[str, Any]:
    name, equals, text = pair.partition("=")
    if not name or not equals:
        raise InvalidField("attribute", f"NAME=VALUE is needed, got {pair[:100]!r}")
    if not text:
        return name, None
    try:
        return name, json.loads(text)
    except (ValueError, RecursionError):
        return name, text
