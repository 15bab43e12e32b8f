"""Options of the commands for schedules, and the definition that they make."""

import json
from collections.abc import Mapping
from typing import Any

import click

from mailqueue.cli.support.output import Command
from mailqueue.contract.automation.schedules import MissedPolicy, OverlapPolicy
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration

schedule_argument = click.argument("name", metavar="SCHEDULE")


def schedule_options(command: Command) -> Command:
    """Add options for what a schedule does, which the command receives by name."""
    for add in (
        click.option(
            "--spread", metavar="DURATION", help="Window over which a run is spread, such as 2h."
        ),
        click.option("--max-runs", type=int, metavar="N", help="Number of runs, then it ends."),
        click.option("--ends-at", metavar="TIME", help="Time after which it runs no more."),
        click.option(
            "--overlap",
            type=click.Choice([one.value for one in OverlapPolicy]),
            help="What to do while a run is still being made.  [default: queue]",
        ),
        click.option(
            "--missed",
            type=click.Choice([one.value for one in MissedPolicy]),
            help="Which late runs to make up for.  [default: latest]",
        ),
        click.option(
            "--option",
            "options",
            metavar="NAME=VALUE",
            multiple=True,
            help="Option of the emails, such as category=marketing; may be repeated.",
        ),
        click.option("--text", metavar="TEXT", help="Plain text body, without a template."),
        click.option("--html", metavar="HTML", help="HTML body, without a template."),
        click.option("--subject", metavar="TEXT", help="Subject, without a template."),
        click.option(
            "--variable",
            "variables",
            metavar="NAME=VALUE",
            multiple=True,
            help="Variable of the template, such as Edition='{{ run.week }}'; may be repeated.",
        ),
        click.option("--language", metavar="TAG", help="Language of the template."),
        click.option("--template", metavar="SLUG", help="Template, such as digest or digest@3."),
        click.option(
            "--to",
            "to",
            metavar="RECIPIENT",
            multiple=True,
            help="Address or name of a contact list; may be repeated.",
        ),
        click.option("--timezone", metavar="ZONE", help="Time zone, such as Europe/Berlin."),
        click.option(
            "--local",
            "is_local",
            is_flag=True,
            help="On the clock of each recipient, by --at or --cron.",
        ),
        click.option("--cron", metavar="EXPRESSION", help="Cron expression, such as '0 9 * * 1'."),
        click.option("--at", metavar="TIME", help="Time, such as 2030-05-01T09:00."),
    ):
        command = add(command)
    return command


def definition_of(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the SQL function put_schedule from options. Pure.

    Raises:
        InvalidField: a pair is no NAME=VALUE.
    """
    kind = "local" if given["is_local"] else "cron" if given["cron"] else "once"
    slug, _, version = (given["template"] or "").partition("@")
    payload: dict[str, Any] = {"to": list(given["to"])} | _pairs("option", given["options"])
    words = {"subject": given["subject"], "html": given["html"], "text": given["text"]}
    payload |= {key: value for key, value in words.items() if value is not None}
    if given["variables"]:
        payload["variables"] = _pairs("variable", given["variables"])
    fields = {
        "name": name,
        "schedule_type": kind,
        "run_at": given["at"],
        "cron_expression": given["cron"],
        "timezone": given["timezone"],
        "template_slug": slug or None,
        "template_version": version or None,
        "language": given["language"],
        "missed": given["missed"],
        "overlap": given["overlap"],
        "ends_at": given["ends_at"],
        "max_runs": given["max_runs"],
    }
    if given["spread"] is not None:
        fields["spread_seconds"] = int(parse_duration(given["spread"]).total_seconds())
    return {key: value for key, value in fields.items() if value is not None} | {"payload": payload}


def _pairs(option: str, given: list[str]) -> dict[str, Any]:
    found = {}
    for pair in given:
        name, mark, value = pair.partition("=")
        if not mark:
            raise InvalidField(option, f"NAME=VALUE is needed, got {pair!r}")
        found[name] = _value(value)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text) if text[:1] in '[{"' and not text.startswith("{{") else text
    except ValueError:
        return text
