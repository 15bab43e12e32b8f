"""`mailqueue key`: API keys."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, show
from mailqueue.contract.page import Page
from mailqueue.contract.projects import RevokedApiKey
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.projects.actor import acting
from mailqueue.projects.ids import project_id_of
from mailqueue.projects.keys import manage as keys_manage
from mailqueue.projects.keys.values import created_key_of, details_of
from mailqueue.projects.model import EVERY_SCOPE, ApiKey, IssuedKey, Scope

_COLUMNS = (
    Column("name", "KEY"),
    Column("hint", "BEGINS"),
    Column("status", "STATUS"),
    Column("kind", "KIND"),
    Column("scopes", "SCOPES"),
    Column("expires_at", "EXPIRES"),
    Column("last_used_at", "LAST USED"),
)
project_option = click.option(
    "--project", default="default", show_default=True, help="Project of the key."
)


@click.group(
    cls=CommandGroup,
    old_names={"create": "add"},
    epilog=examples(
        "mailqueue key add web --scope email:send --scope email:read",
        "mailqueue key list --project shop",
        "mailqueue key rotate web --grace 7d",
        "mailqueue key revoke web --reason 'leaked in a commit'",
    ),
)
def key() -> None:
    """Add, rotate and revoke API keys."""


@key.command(
    epilog=examples(
        "mailqueue key add web",
        "mailqueue key add web --project shop --scope email:send --expires 90d",
        "mailqueue key add trial --test --rate 5",
    )
)
@click.argument("name")
@project_option
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([str(scope) for scope in Scope]),
    help="Scope of the key; may be repeated.  [default: all scopes]",
)
@click.option(
    "--test",
    "is_test",
    is_flag=True,
    help="Create a test key: its emails go only to the mail trap.",
)
@click.option(
    "--expires", metavar="DURATION", help="Lifetime of the key, such as 90d.  [default: no end]"
)
@click.option(
    "--rate",
    type=click.IntRange(1, keys_manage.MAX_REQUESTS_PER_SECOND),
    metavar="N",
    help="Requests per second; bursts of ten times as many.  [default: setting requests_per_key]",
)
@json_option
def add(
    *,
    name: str,
    project: str,
    scopes: Sequence[str],
    is_test: bool,
    expires: str | None,
    rate: int | None,
) -> None:
    """Add an API key. The key is shown once."""
    lasts = None if expires is None else _span("expires", expires)

    async def issued(app: Opened) -> IssuedKey:
        async with acting(app.conn, by=operator()):
            return await keys_manage.issue_key(
                app.conn,
                project,
                name,
                is_test=is_test,
                scopes=scopes or EVERY_SCOPE,
                expires_at=None if lasts is None else datetime.now(UTC) + lasts,
                requests_per_second=rate,
            )

    _print_issued(execute(issued))


@key.command(
    name="list",
    epilog=examples("mailqueue key list", "mailqueue key list --project shop --all --json"),
)
@project_option
@click.option("--all", "with_ended", is_flag=True, help="Include revoked and expired keys.")
@json_option
def list_(*, project: str, with_ended: bool) -> None:
    """List the API keys of a project, newest first."""
    now = datetime.now(UTC)
    found = execute(lambda app: keys_manage.list_keys(app.conn, project))
    wanted = [one for one in found if with_ended or one.status(now) in ("active", "rotated")]
    document = Page([details_of(one) for one in wanted], None)
    print_rows(wanted, _COLUMNS, document=document, row=_row)


@key.command(
    name="show", epilog=examples("mailqueue key show web", "mailqueue key show web --json")
)
@click.argument("name")
@project_option
@json_option
def show_(*, name: str, project: str) -> None:
    """Show the details of an API key. The key itself is never shown again."""

    async def found(app: Opened) -> ApiKey:
        project_id = await project_id_of(app.conn, project)
        key_id = await keys_manage.id_of_key(app.conn, project_id, name)
        return await keys_manage.show_key(app.conn, project_id, key_id)

    shown = execute(found)
    pairs = ((word.replace("_", " "), value) for word, value in _fields(shown).items())
    print_facts(details_of(shown), pairs)


@key.command(
    epilog=examples("mailqueue key rotate web", "mailqueue key rotate web --grace 0s --json")
)
@click.argument("name")
@project_option
@click.option(
    "--grace", default="24h", show_default=True, help="Time for which the old key stays valid."
)
@json_option
def rotate(*, name: str, project: str, grace: str) -> None:
    """Replace an API key by a new one. The new key is shown once."""
    wait = _span("grace", grace)

    async def issued(app: Opened) -> IssuedKey:
        async with acting(app.conn, by=operator()):
            project_id = await project_id_of(app.conn, project)
            key_id = await keys_manage.id_of_key(app.conn, project_id, name)
            return await keys_manage.rotate_key(app.conn, project_id, key_id, grace=wait)

    _print_issued(execute(issued))


@key.command(epilog=examples("mailqueue key revoke web --reason 'leaked in a commit'"))
@click.argument("name")
@project_option
@click.option("--reason", help="Reason, recorded in the audit log.")
@asks_first("Programs that use key {name} of project {project} are refused. Revoke it?")
@json_option
def revoke(*, name: str, project: str, reason: str | None) -> None:
    """Revoke an API key. Every API process refuses it within a second."""

    async def revoked(app: Opened) -> None:
        async with acting(app.conn, by=operator()):
            await keys_manage.revoke_key(app.conn, project, name, reason=reason)

    execute(revoked)
    print_message(
        RevokedApiKey(name, project, "revoked"),
        f"key {show(name)} of project {show(project)} is revoked",
    )


def _fields(key: ApiKey) -> dict[str, object]:
    return {"status": key.status(datetime.now(UTC))} | asdict(key)


def _row(key: ApiKey) -> dict[str, object]:
    return _fields(key) | {"kind": "test" if key.is_test else "live"}


def _print_issued(issued: IssuedKey) -> None:

    def as_text() -> None:
        click.echo(issued.key.reveal())
        click.echo("Save it now: it is not shown again, and only its hash is stored.", err=True)

    print_result(created_key_of(issued), as_text)


def _span(field: str, text: str) -> timedelta:
    try:
        return parse_duration(text)
    except (ValueError, OverflowError) as exc:
        raise InvalidField(field, str(exc)) from None
