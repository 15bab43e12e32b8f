"""`mailqueue vault`: the keys under which secrets are sealed."""

from dataclasses import asdict

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.output import emit, examples, facts, json_option
from mailqueue.cli.vault.byok import byok
from mailqueue.cli.vault.view import print_vaults
from mailqueue.core.errors import ConfigError
from mailqueue.settings.environment import Settings, load_settings
from mailqueue.vault import ownkey, rotation
from mailqueue.vault.masterkey import (
    FILE_NAME,
    PREVIOUS_FILE_NAME,
    VARIABLE,
    MasterKey,
    replace_master_key,
)
from mailqueue.vault.model import ProjectVault
from mailqueue.vault.rotation import Rotated

EXIT_DAMAGED = 1


@click.group(
    epilog=examples(
        "mailqueue vault status",
        "mailqueue vault rotate --new-key",
        "mailqueue vault byok unlock shop --for 8h --key-env SHOP_KEY",
    )
)
def vault() -> None:
    """Look after the keys that seal passwords and signing keys."""


vault.add_command(byok)


@vault.command(epilog=examples("mailqueue vault status", "mailqueue vault status --json"))
@click.option("--project", help="Only this project.")
@json_option
def status(*, project: str | None, as_json: bool) -> None:
    """Show which keys are at hand and which ones wrap each project's data keys.

    Keys are named by a hash; none is ever shown.
    """

    async def work() -> tuple[MasterKey | None, list[ProjectVault]]:
        async with opened() as app:
            return app.master_key(), await ownkey.list_vaults(app.conn, project=project)

    master, found = run(work())
    print_vaults(found, master=master, as_json=as_json)


@vault.command(
    epilog=examples(
        "mailqueue vault rotate --new-key",
        "MAILQUEUE_MASTER_KEY=… MAILQUEUE_MASTER_KEY_PREVIOUS=… mailqueue vault rotate",
        "mailqueue vault rotate --fresh --project shop",
    )
)
@click.option("--new-key", is_flag=True, help=f"First make a new {FILE_NAME} in the data folder.")
@click.option("--fresh", is_flag=True, help="Replace data keys too whose master key stays.")
@click.option("--project", help="Replace the data keys of this project only.")
@json_option
@click.pass_context
def rotate(
    ctx: click.Context, *, new_key: bool, fresh: bool, project: str | None, as_json: bool
) -> None:
    """Bring every secret under the master key in force, while workers go on.

    Data keys are wrapped anew, those made under an earlier master key are replaced, and what they
    sealed is sealed anew. Killed or interrupted, it goes on where it was when it is run again.
    """
    if new_key:
        _make_new_key(load_settings())

    async def work() -> Rotated:
        async with opened() as app:
            return await rotation.rotate(
                app.conn, _master(app), project=project, is_forced=fresh, by=operator()
            )

    done = run(work())
    if as_json:
        emit(asdict(done))
    else:
        facts(
            [
                ("wrapped anew", done.rewrapped),
                ("projects with a new data key", done.renewed),
                ("sealed anew", done.resealed),
            ]
        )
    for each in done.damaged:
        click.echo(f"error: {each}", err=True)
    if done.damaged:
        ctx.exit(EXIT_DAMAGED)


def _make_new_key(settings: Settings) -> None:
    if settings.master_key is not None:
        raise ConfigError(
            f"--new-key makes a file, and {VARIABLE} is set: set it to the new key and "
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
