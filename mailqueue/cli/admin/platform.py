"""`mailqueue platform`: settings, flags, audit log and API keys of the whole installation."""

from dataclasses import asdict

import click

from mailqueue.administration import revoking, settings
from mailqueue.cli.admin.events import events
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.administration import Setting
from mailqueue.tenants.projects import manage as projects_manage

_SETTINGS = (Column("name", "SETTING"), Column("value", "VALUE"), Column("meaning", "MEANING"))
_KEYS = (Column("project", "PROJECT"), Column("name", "KEY"), Column("hint", "BEGINS WITH"))
_AUDIT = (
    Column("id", "ID", numeric=True),
    Column("occurred_at", "WHEN"),
    Column("project", "PROJECT"),
    Column("actor", "WHO"),
    Column("action", "DID"),
    Column("subject", "TO"),
)


@click.group(
    epilog=examples(
        "mailqueue platform settings",
        "mailqueue platform flag accept_mail off",
        "mailqueue platform revoke-keys --prefix mq_live_a7Qz --reason 'seen in a public log'",
    )
)
def platform() -> None:
    """Show and change settings, flags and API keys of the whole installation."""


platform.add_command(events)


@platform.command(name="settings", epilog=examples("mailqueue platform settings"))
@json_option
def settings_() -> None:
    """List settings with their values and meanings."""
    print_rows(execute(lambda app: settings.list_all(app.conn)), _SETTINGS)


@platform.command(
    name="set",
    epilog=examples(
        "mailqueue platform set max_send_rate 200",
        "mailqueue platform set attachment_bytes_most '10 MB'",
    ),
)
@click.argument("name", metavar="SETTING")
@click.argument("value")
@json_option
def set_(*, name: str, value: str) -> None:
    """Change a setting. It takes effect at once."""

    async def changed(app: Opened) -> list[Setting]:
        async with app.conn.transaction():
            return await settings.change(app.conn, {name: value}, by=operator())

    print_rows([each for each in execute(changed) if each.name == name], _SETTINGS)


@platform.command(epilog=examples("mailqueue platform flags"))
@json_option
def flags() -> None:
    """List flags with their values and effects."""
    print_rows(execute(lambda app: settings.list_flags(app.conn)), _SETTINGS)


@platform.command(epilog=examples("mailqueue platform flag accept_mail off"))
@click.argument("name", metavar="FLAG")
@click.argument("to", type=click.Choice(["on", "off"]))
@json_option
def flag(*, name: str, to: str) -> None:
    """Switch a flag on or off. It takes effect at once."""

    async def switched(app: Opened) -> list[Setting]:
        async with app.conn.transaction():
            return await settings.switch(app.conn, {name: to == "on"}, by=operator())

    print_rows([each for each in execute(switched) if each.name == name], _SETTINGS)


@platform.command(epilog=examples("mailqueue platform audit --action project.suspended"))
@click.option("--action", help="Filter by action, such as setting.changed.")
@click.option("--limit", "most", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--before", type=int, help="Show entries older than the entry with this id.")
@json_option
def audit(*, action: str | None, most: int, before: int | None) -> None:
    """List the audit log of all projects, newest first."""
    listed = execute(
        lambda app: projects_manage.audit(app.conn, None, action=action, before=before, most=most)
    )
    print_rows(listed, _AUDIT, document=[asdict(each) for each in listed])


@platform.command(
    name="revoke-keys",
    epilog=examples(
        "mailqueue platform revoke-keys --project shop --reason 'laptop stolen'",
        "mailqueue platform revoke-keys --prefix mq_test_ --reason 'end of the trial'",
        "mailqueue platform revoke-keys --all --reason 'database was copied'",
    ),
)
@click.option("--project", help="Revoke the keys of this project.")
@click.option("--prefix", help="Revoke keys that begin with this text.")
@click.option("--all", "is_all", is_flag=True, help="Revoke every key of every project.")
@click.option("--reason", required=True, help="Reason, recorded in the audit log.")
@json_option
def revoke_keys(*, project: str | None, prefix: str | None, is_all: bool, reason: str) -> None:
    """Revoke API keys and list them. It takes effect at once."""
    gone = execute(
        lambda app: revoking.revoke(
            app.conn,
            project=project,
            prefix=prefix,
            is_all=is_all,
            reason=reason,
            by=operator(),
        )
    )
    print_rows(gone, _KEYS)
