"""`mailqueue platform`: settings, flags, audit log, API keys and storage of the installation."""

import click

from mailqueue.admin import revoking, settings
from mailqueue.cli.admin import storage
from mailqueue.cli.admin.events import events
from mailqueue.cli.projects.audit import platform_audit
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.admin import RevokedKeys, Setting
from mailqueue.contract.page import Page

_SETTINGS = (Column("name", "SETTING"), Column("value", "VALUE"), Column("meaning", "MEANING"))
_KEYS = (Column("project", "PROJECT"), Column("name", "KEY"), Column("hint", "BEGINS WITH"))


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue platform settings",
        "mailqueue platform flag accept_mail off",
        "mailqueue platform revoke-keys --prefix mq_live_a7Qz --reason 'seen in a public log'",
    ),
)
def platform() -> None:
    """Show and change settings, flags and API keys of the whole installation; show its storage."""


platform.add_command(events)
platform.add_command(platform_audit)
platform.add_command(storage.partitions)
platform.add_command(storage.disk)
platform.add_command(storage.tasks)


@platform.command(name="settings", epilog=examples("mailqueue platform settings"))
@json_option
def settings_() -> None:
    """List settings with their values and meanings."""
    found = execute(lambda app: settings.list_all(app.conn))
    print_rows(found, _SETTINGS, document=Page(found, None))


@platform.command(
    name="set",
    epilog=examples(
        "mailqueue platform set max_send_rate 200",
        "mailqueue platform set max_attachment_bytes '10 MB'",
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

    _print_changed(execute(changed), name)


@platform.command(epilog=examples("mailqueue platform flags"))
@json_option
def flags() -> None:
    """List flags with their values and effects."""
    found = execute(lambda app: settings.list_flags(app.conn))
    print_rows(found, _SETTINGS, document=Page(found, None))


@platform.command(epilog=examples("mailqueue platform flag accept_mail off"))
@click.argument("name", metavar="FLAG")
@click.argument("to", type=click.Choice(["on", "off"]))
@json_option
def flag(*, name: str, to: str) -> None:
    """Switch a flag on or off. It takes effect at once."""

    async def switched(app: Opened) -> list[Setting]:
        async with app.conn.transaction():
            return await settings.switch(app.conn, {name: to == "on"}, by=operator())

    _print_changed(execute(switched), name)


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
@asks_first("Programs that use the keys are refused. Revoke all that match?")
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
    print_rows(gone, _KEYS, document=RevokedKeys(len(gone), gone))


def _print_changed(settings: list[Setting], name: str) -> None:
    """Print the setting that was changed; as JSON all of them, as the API answers."""
    changed = [each for each in settings if each.name == name]
    print_rows(changed, _SETTINGS, document=Page(settings, None))
