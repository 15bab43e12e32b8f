"""Options that select emails by id or filter, with --dry-run and --yes."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import click

from mailqueue.cli.support.confirmation import yes_option


@dataclass(frozen=True, slots=True)
class Selection:
    """Ids, or a filter as the SQL functions take it; never both."""

    ids: Sequence[UUID]
    where: Mapping[str, str]
    is_trial: bool
    is_sure: bool


# By the names SQL's filters have. Values are handed over as they are: SQL refuses them by name.
_FILTERS = {
    "project": click.option(
        "--project", metavar="NAME", help="Project; required unless ids are given."
    ),
    "batch": click.option("--batch", metavar="ID", help="Batch of the project."),
    "campaign_id": click.option(
        "--campaign", "campaign_id", metavar="ID", help="Campaign of the emails."
    ),
    "tag": click.option("--tag", metavar="WORD", help="Tag of the emails."),
    "lane": click.option(
        "--lane", metavar="PRIORITY[/ROUTE]", help="Lane, such as low or high/relay."
    ),
    "sender": click.option("--sender", metavar="NAME", help="Name of the sender account."),
    "domain": click.option("--domain", metavar="DOMAIN", help="Recipient domain."),
    "status": click.option("--status", metavar="WORD", help="Status, such as pending or failed."),
    "category": click.option("--category", metavar="WORD", help="Category, such as marketing."),
    "subject": click.option(
        "--subject",
        metavar="TEXT",
        help="Text that the subject contains, in upper or lower case; no patterns. For emails of a "
        "template: the template's subject.",
    ),
    "older_than": click.option(
        "--older-than", metavar="AGE", help="Minimum age, such as 30min, 4h or 2d."
    ),
    "newer_than": click.option("--newer-than", metavar="AGE", help="Maximum age, such as 4h."),
}


_FROM = click.option(
    "--from", "sender_before", metavar="NAME", help="Name of the sender account until now."
)
"""The filter `sender` of a command whose --sender is another account."""


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ids, filters, --dry-run and --yes; the command receives them as one `selection`."""
    return _selecting(command, {name: (name, option) for name, option in _FILTERS.items()})


def moving_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same to a command that has an option --sender of its own."""
    options = {name: (name, option) for name, option in _FILTERS.items()}
    return _selecting(command, options | {"sender": ("sender_before", _FROM)})


def _selecting(
    command: Callable[..., Any], filters: Mapping[str, tuple[str, Callable[..., Any]]]
) -> Callable[..., Any]:
    """Add ids and filters, each by its name in SQL with its parameter and option."""

    @functools.wraps(command)
    def packed(*args: Any, ids: Sequence[UUID], dry_run: bool, yes: bool, **options: Any) -> Any:
        named = {name: options.pop(parameter) for name, (parameter, _) in filters.items()}
        where = {name: value for name, value in named.items() if value is not None}
        if ids and where:
            raise click.UsageError("give ids or a filter, not both")
        if not ids and "project" not in where:
            raise click.UsageError("give ids, or --project and further filters")
        chosen = Selection(ids, where, is_trial=dry_run, is_sure=yes)
        return command(*args, selection=chosen, **options)

    wrapped: Callable[..., Any] = packed
    wrapped = yes_option(wrapped)
    wrapped = click.option(
        "--dry-run", is_flag=True, help="Print what would be done and change nothing."
    )(wrapped)
    for _, option in reversed(list(filters.values())):
        wrapped = option(wrapped)
    return click.argument("ids", metavar="[ID]...", type=click.UUID, nargs=-1)(wrapped)
