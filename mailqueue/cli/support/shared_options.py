"""Options that commands of many groups have."""

from collections.abc import Callable

import click

from mailqueue.cli.support.output import Command

project_option = click.option("--project", default="default", show_default=True, help="Project.")


def limit_option(most: int = 10_000, *, of: str = "rows") -> Callable[[Command], Command]:
    """Return the option for how many rows a command lists, at most `most`."""
    return click.option(
        "--limit",
        type=click.IntRange(1, most),
        default=50,
        show_default=True,
        help=f"Maximum number of {of}.",
    )
