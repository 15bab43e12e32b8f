"""`mailqueue watch channel`: where notifications go."""

from collections.abc import Mapping
from typing import Any
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
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.cli.watch.options import (
    id_argument,
    of_user_option,
    pairs_of,
    secret_of,
    user_option,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import ChannelType, NotificationChannel, SlackInstallLink
from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.projects.ids import project_id_of
from mailqueue.watch import channels, installing, whatsapp
from mailqueue.watch.whatsapp import Consent, NewPhone
from mailqueue.wiring.watch import slack_app

_COLUMNS = (
    Column("id", "CHANNEL"),
    Column("user_id", "USER"),
    Column("channel_type", "TYPE"),
    Column("slack_channel_id", "SLACK"),
    Column("phone_number", "PHONE"),
    Column("status", "STATUS"),
    Column("last_error", "ERROR"),
)
_ID = "0197b8f0-0000-7000-8000-0000000000c4"
_USER = "0197b8f0-0000-7000-8000-0000000000c1"
_token = click.option(
    "--token-env",
    metavar="VARIABLE",
    help="Environment variable that holds the token; without it, a terminal is prompted.",
)
_signing_secret = click.option(
    "--signing-secret-env",
    metavar="VARIABLE",
    help="Environment variable with the signing secret of the Slack app, for buttons.",
)
_ADDED = (
    f"mailqueue watch channel add --user {_USER} --slack C0123456789 --token-env SLACK_BOT_TOKEN"
)
_PHONE_ADDED = (
    f"mailqueue watch channel add --user {_USER} --whatsapp +15550000002"
    " --account AC00000000000000000000000000000001 --sender +15550000001"
    " --template HX00000000000000000000000000000001 --token-env TWILIO_AUTH_TOKEN"
    " --consent-source https://example.com/settings"
    " --consent-wording 'Notify me of new mail by WhatsApp'"
)
_NEEDED = {
    "twilio_sid": "account",
    "sender_number": "sender",
    "template_sid": "template",
    "consent_source": "consent-source",
    "consent_wording": "consent-wording",
}


@click.group(cls=CommandGroup, epilog=examples(_ADDED, "mailqueue watch channel list"))
def channel() -> None:
    """Manage the channels that notifications go to."""


@channel.command(epilog=examples(_ADDED, _PHONE_ADDED))
@of_user_option
@click.option("--slack", "slack_channel_id", metavar="ID", help="Channel or person in Slack.")
@click.option("--workspace", metavar="ID", help="Team in Slack, whose channels share a rate.")
@click.option("--whatsapp", "phone_number", metavar="NUMBER", help="Phone of the inbox user.")
@click.option("--account", "twilio_sid", metavar="SID", help="Account at Twilio.")
@click.option("--sender", "sender_number", metavar="NUMBER", help="Number to send from.")
@click.option("--template", "template_sid", metavar="SID", help="Content template at Twilio.")
@click.option("--consent-source", metavar="TEXT", help="Where the inbox user gave consent.")
@click.option("--consent-wording", metavar="TEXT", help="What the inbox user agreed to.")
@click.option(
    "--consent-at",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S%z"]),
    help="When consent was given, such as 2030-05-01T08:00:00Z; now if omitted.",
)
@_token
@_signing_secret
@project_option
@json_option
def add(
    *,
    user_id: UUID,
    slack_channel_id: str | None,
    workspace: str | None,
    token_env: str | None,
    signing_secret_env: str | None,
    project: str,
    **phone: Any,
) -> None:
    """Connect a Slack channel, or by --whatsapp the phone, of an inbox user."""
    if (slack_channel_id is None) == (phone["phone_number"] is None):
        raise InvalidField("slack", "give either --slack or --whatsapp")
    what = "Bot token" if slack_channel_id is not None else "Token of the account"
    token = secret_of(token_env, what=what, option="token-env")
    signing_secret = _signing_secret_of(signing_secret_env)

    async def added(app: Opened) -> NotificationChannel:
        project_id = await project_id_of(app.conn, project)
        if slack_channel_id is None:
            new = _phone_of(user_id, token, phone)
            return await whatsapp.add(
                app.conn, project_id, new, master=app.master_key(), by=operator()
            )
        return await channels.add(
            app.conn,
            project_id,
            user_id,
            bot_token=token,
            slack_channel_id=slack_channel_id,
            workspace=workspace,
            signing_secret=signing_secret,
            master=app.master_key(),
            by=operator(),
        )

    _print(execute(added))


def _signing_secret_of(variable: str | None) -> Secret | None:
    if variable is None:
        return None
    return secret_of(variable, what="Signing secret", option="signing-secret-env")


def _phone_of(user_id: UUID, token: Secret, phone: Mapping[str, Any]) -> NewPhone:
    for name, option in _NEEDED.items():
        if phone[name] is None:
            raise InvalidField(option, "is needed with --whatsapp")
    consent = Consent(phone["consent_source"], phone["consent_wording"], phone["consent_at"])
    return NewPhone(
        user_id,
        phone["phone_number"],
        phone["twilio_sid"],
        token,
        phone["sender_number"],
        phone["template_sid"],
        consent,
    )


@channel.command(epilog=examples(f"mailqueue watch channel install --user {_USER}"))
@of_user_option
@project_option
@json_option
def install(*, user_id: UUID, project: str) -> None:
    """Print the link by which an inbox user installs the Slack app, within ten minutes."""

    async def begun(app: Opened) -> SlackInstallLink:
        return await installing.begin(
            app.conn,
            await project_id_of(app.conn, project),
            user_id,
            app=slack_app(app.settings),
            public_url=app.settings.tracking.public_url,
            by=operator(),
        )

    found = execute(begun)
    print_message(found, found.url)


@channel.command("list", epilog=examples("mailqueue watch channel list --json"))
@user_option
@limit_option()
@project_option
@json_option
def list_(*, user_id: UUID | None, limit: int, project: str) -> None:
    """List channels, disconnected ones included."""

    async def listed(app: Opened) -> list[NotificationChannel]:
        project_id = await project_id_of(app.conn, project)
        return await channels.list_page(app.conn, project_id, user_id=user_id, limit=limit)

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@channel.command(
    epilog=examples(f"mailqueue watch channel reconnect {_ID} --token-env SLACK_BOT_TOKEN")
)
@id_argument("CHANNEL")
@click.option("--slack", "slack_channel_id", metavar="ID", help="Another channel in Slack.")
@click.option("--template", "template_sid", metavar="SID", help="Another template at Twilio.")
@_token
@_signing_secret
@project_option
@json_option
def reconnect(
    *,
    row_id: UUID,
    slack_channel_id: str | None,
    template_sid: str | None,
    token_env: str | None,
    signing_secret_env: str | None,
    project: str,
) -> None:
    """Replace the token of CHANNEL, as after an error; what waits is delivered."""
    token = secret_of(token_env, what="Token", option="token-env")
    signing_secret = _signing_secret_of(signing_secret_env)

    async def reconnected(app: Opened) -> NotificationChannel:
        project_id, master = await project_id_of(app.conn, project), app.master_key()
        known = await channels.get(app.conn, project_id, row_id)
        if known.channel_type == ChannelType.WHATSAPP:
            return await whatsapp.reconnect(
                app.conn,
                project_id,
                row_id,
                auth_token=token,
                template_sid=template_sid,
                master=master,
                by=operator(),
            )
        return await channels.reconnect(
            app.conn,
            project_id,
            row_id,
            bot_token=token,
            slack_channel_id=slack_channel_id,
            signing_secret=signing_secret,
            master=master,
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
        await channels.disconnect(
            app.conn, await project_id_of(app.conn, project), row_id, by=operator()
        )

    execute(gone)
    click.echo(f"channel {row_id} is disconnected")


def _print(one: NotificationChannel) -> None:
    print_facts(one, pairs_of(one))
