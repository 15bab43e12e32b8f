"""`mailqueue watch channel`: where notifications go."""

from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.watch.options import (
    id_argument,
    limit_option,
    of_user_option,
    pairs_of,
    project_of,
    project_option,
    secret_of,
    user_option,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import NotificationChannel
from mailqueue.watch import channels

_COLUMNS = (
    Column("id", "CHANNEL"),
    Column("user_id", "USER"),
    Column("channel_type", "TYPE"),
    Column("slack_channel_id", "SLACK"),
    Column("status", "STATUS"),
    Column("last_error", "ERROR"),
)
_ID = "0197b8f0-0000-7000-8000-0000000000c4"
_USER = "0197b8f0-0000-7000-8000-0000000000c1"
_token = click.option(
    "--token-env",
    metavar="VARIABLE",
    help="Environment variable that holds the bot's token; without it, a terminal is prompted.",
)
_ADDED = (
    f"mailqueue watch channel add --user {_USER} --slack C0123456789 --token-env SLACK_BOT_TOKEN"
)


@click.group(cls=CommandGroup, epilog=examples(_ADDED, "mailqueue watch channel list"))
def channel() -> None:
    """Manage the Slack channels that notifications go to."""


@channel.command(epilog=examples(_ADDED))
@of_user_option
@click.option(
    "--slack", "slack_channel_id", required=True, metavar="ID", help="Channel or person in Slack."
)
@click.option("--workspace", metavar="ID", help="Team in Slack, whose channels share a rate.")
@_token
@project_option
@json_option
def add(
    *,
    user_id: UUID,
    slack_channel_id: str,
    workspace: str | None,
    token_env: str | None,
    project: str,
) -> None:
    """Connect a Slack channel of an inbox user."""
    token = secret_of(token_env, what="Bot token", option="token-env")

    async def added(app: Opened) -> NotificationChannel:
        return await channels.add(
            app.conn,
            await project_of(app, project),
            user_id,
            bot_token=token,
            slack_channel_id=slack_channel_id,
            workspace=workspace,
            master=app.master_key(),
            by=operator(),
        )

    _print(execute(added))


@channel.command("list", epilog=examples("mailqueue watch channel list --json"))
@user_option
@limit_option
@project_option
@json_option
def list_(*, user_id: UUID | None, limit: int, project: str) -> None:
    """List channels, disconnected ones included."""

    async def listed(app: Opened) -> list[NotificationChannel]:
        project_id = await project_of(app, project)
        return await channels.list_page(app.conn, project_id, user_id=user_id, limit=limit)

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@channel.command(
    epilog=examples(f"mailqueue watch channel reconnect {_ID} --token-env SLACK_BOT_TOKEN")
)
@id_argument("CHANNEL")
@click.option("--slack", "slack_channel_id", metavar="ID", help="Another channel in Slack.")
@_token
@project_option
@json_option
def reconnect(
    *, row_id: UUID, slack_channel_id: str | None, token_env: str | None, project: str
) -> None:
    """Replace the token of CHANNEL, as after an error; what waits is delivered."""
    token = secret_of(token_env, what="Bot token", option="token-env")

    async def reconnected(app: Opened) -> NotificationChannel:
        return await channels.reconnect(
            app.conn,
            await project_of(app, project),
            row_id,
            bot_token=token,
            slack_channel_id=slack_channel_id,
            master=app.master_key(),
            by=operator(),
        )

    _print(execute(reconnected))


@channel.command(epilog=examples(f"mailqueue watch channel disconnect {_ID} --yes"))
@id_argument("CHANNEL")
@project_option
@asks_first("Disconnect channel {row_id}? What waits for it is not delivered.")
def disconnect(*, row_id: UUID, project: str) -> None:
    """Disconnect CHANNEL: its token is deleted, and what waits is not delivered."""

    async def gone(app: Opened) -> None:
        await channels.disconnect(app.conn, await project_of(app, project), row_id, by=operator())

    execute(gone)
    click.echo(f"channel {row_id} is disconnected")


def _print(one: NotificationChannel) -> None:
    print_facts(one, pairs_of(one))
