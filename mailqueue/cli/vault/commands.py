"""`mailqueue vault`: the keys that encrypt stored secrets."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.cli.vault.byok import byok
from mailqueue.cli.vault.view import print_vaults
from mailqueue.contract.maintenance import ProjectVault
from mailqueue.core.errors import ConfigError
from mailqueue.settings.environment import Settings
from mailqueue.vault import ownkey, rotation
from mailqueue.vault.masterkey import (
    FILE_NAME,
    PREVIOUS_FILE_NAME,
    VARIABLE,
    MasterKey,
    replace_master_key,
)

EXIT_DAMAGED = 1


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue vault status",
        "mailqueue vault rotate --new-key",
        "mailqueue vault byok unlock shop --for 8h --key-env SHOP_KEY",
    ),
)
def vault() -> None:
    """Show and rotate the keys that encrypt passwords and signing keys."""


vault.add_command(byok)


@vault.command(epilog=examples("mailqueue vault status", "mailqueue vault status --json"))
@click.option("--project", help="Filter by project.")
@json_option
def status(*, project: str | None) -> None:
    """Show the available keys, and the key that wraps each project's data keys.

    Keys are identified by a hash and never shown.
    """

    async def work(app: Opened) -> tuple[MasterKey | None, list[ProjectVault]]:
        return app.master_key(), await ownkey.list_vaults(app.conn, project=project)

    master, found = execute(work)
    print_vaults(found, master=master)


@vault.command(
    epilog=examples(
        "mailqueue vault rotate --new-key",
        "MAILQUEUE_MASTER_KEY=… MAILQUEUE_MASTER_KEY_PREVIOUS=… mailqueue vault rotate",
        "mailqueue vault rotate --fresh --project shop",
    )
)
@click.option("--new-key", is_flag=True, help=f"Create a new {FILE_NAME} in the data folder first.")
@click.option(
    "--fresh",
    is_flag=True,
    help="Also replace data keys that are already wrapped with the current master key.",
)
@click.option("--project", help="Rotate the data keys of this project only.")
@json_option
@click.pass_context
def rotate(ctx: click.Context, *, new_key: bool, fresh: bool, project: str | None) -> None:
    """Re-encrypt all secrets under the current master key, while workers keep running.

    Wraps data keys again, replaces those made under an earlier master key, and re-encrypts their
    secrets. An interrupted rotation continues when the command is run again.
    """
    if new_key:
        _make_new_key(command_settings())

    done = execute(
        lambda app: rotation.rotate(
            app.conn, _master(app), project=project, is_forced=fresh, by=operator()
        )
    )
    print_facts(
        done,
        [
            ("data keys rewrapped", done.rewrapped),
            ("projects with a new data key", done.renewed),
            ("secrets re-encrypted", done.resealed),
        ],
    )
    for each in done.damaged:
        click.echo(f"error: {each}", err=True)
    if done.damaged:
        ctx.exit(EXIT_DAMAGED)


def _make_new_key(settings: Settings) -> None:
    if settings.master_key is not None:
        raise ConfigError(
            f"--new-key creates a file, but {VARIABLE} is set: set it to the new key and "
            f"{VARIABLE}_PREVIOUS to the one before"
        )
    replace_master_key(settings.data)
    click.echo(
        f"made {settings.data / FILE_NAME}; the key before is {PREVIOUS_FILE_NAME} beside it",
        err=True,
    )


def _master(app: Opened) -> MasterKey:
    master = app.master_key()
    if master is None:
        raise ConfigError(f"{VARIABLE} is not set and there is no {FILE_NAME} in the data folder")
    return master
