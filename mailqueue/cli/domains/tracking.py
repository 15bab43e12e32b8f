"""`mailqueue tracking`: the tracking domain of a project, and the keys that sign tracking links."""

import click

from mailqueue.cli.domains.dkim.options import name_servers, resolver_option
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_result, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, facts, table
from mailqueue.contract.domains import TrackingDomainCheck, TrackingSetup
from mailqueue.core.errors import ConfigError
from mailqueue.domains.resolver import Resolver
from mailqueue.tracking import domains, keyring
from mailqueue.vault.masterkey import master_key_of

EXIT_LEADS_ELSEWHERE = 1
_COLUMNS = (
    Column("id", "KEY"),
    Column("created_at", "MADE"),
    Column("retired_at", "RETIRED"),
    Column("revoked_at", "REVOKED"),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue tracking show shop",
        "mailqueue tracking verify shop",
        "mailqueue tracking rotate shop",
        "mailqueue tracking revoke shop 4f2a10c3b7 --yes",
    ),
)
def tracking() -> None:
    """Show and check a project's tracking domain; rotate and revoke the keys that sign links."""


@tracking.command(
    epilog=examples("mailqueue tracking show shop", "mailqueue tracking show shop --json")
)
@click.argument("project")
@json_option
def show(*, project: str) -> None:
    """Show the base URL of a project's tracking links, and the keys that sign them."""
    found = execute(lambda app: _found(app, project))

    def as_text() -> None:
        facts(
            (
                ("base URL of links", found.links_begin_with or "none: set MAILQUEUE_PUBLIC_URL"),
                ("tracking domain", found.domain),
                ("verified at", found.verified_at),
            )
        )
        if found.keys:
            table(found.keys, _COLUMNS)

    print_result(found, as_text)


@tracking.command(
    epilog=examples(
        "mailqueue tracking verify shop",
        "mailqueue tracking verify shop --resolver 127.0.0.1:5353 --json",
    )
)
@click.argument("project")
@resolver_option
@json_option
@click.pass_context
def verify(ctx: click.Context, *, project: str, resolver: str | None) -> None:
    """Check the project's tracking domain; if it resolves to this server, new links use it.

    Exit 1 when the domain points elsewhere or DNS did not answer.
    """
    check = execute(lambda app: _verified(app, project, resolver))
    print_facts(
        check,
        (
            ("domain", check.domain),
            ("leads here", {True: "yes", False: "no", None: "unknown"}[check.leads_here]),
            ("says", check.says),
            ("found", ", ".join(check.found)),
            ("wanted", ", ".join(check.wanted)),
            ("publish", None if check.leads_here else check.publish),
            ("verified at", check.verified_at),
        ),
    )
    if not check.leads_here:
        ctx.exit(EXIT_LEADS_ELSEWHERE)


@tracking.command(epilog=examples("mailqueue tracking rotate shop"))
@click.argument("project")
@json_option
def rotate(*, project: str) -> None:
    """Rotate the key that signs a project's tracking links. Links already sent stay valid.

    Running workers use the new key within ten minutes.
    """
    execute(lambda app: _rotated(app, project))
    found = execute(lambda app: _found(app, project))
    print_rows(found.keys, _COLUMNS, document=found)


@tracking.command(epilog=examples("mailqueue tracking revoke shop 4f2a10c3b7 --yes"))
@click.argument("project")
@click.argument("key")
@asks_first("Links signed with {key} stop working. Revoke it?")
@json_option
def revoke(*, project: str, key: str) -> None:
    """Revoke a key that was disclosed: links it signed stop working, unsubscribe links included.

    The key that signs links now is replaced first. Running workers notice within a minute.
    """
    execute(lambda app: _revoked(app, project, key))
    found = execute(lambda app: _found(app, project))
    print_rows(found.keys, _COLUMNS, document=found)


async def _found(app: Opened, project: str) -> TrackingSetup:
    found = await domains.project_of(app.conn, project)
    status = domains.status_of(found, public_url=app.settings.tracking.public_url)
    return TrackingSetup(
        status.links_begin_with,
        status.domain,
        status.verified_at,
        keys=await keyring.keys_of(app.conn, found.id),
    )


async def _verified(app: Opened, project: str, resolver: str | None) -> TrackingDomainCheck:
    found = await domains.project_of(app.conn, project)
    check = await domains.look_up(
        found,
        public_url=app.settings.tracking.public_url,
        resolver=Resolver(name_servers(resolver, app.settings.name_servers)),
    )
    return await domains.noted(app.conn, found, check)


async def _rotated(app: Opened, project: str) -> None:
    master = master_key_of(app.settings)
    if master is None:
        raise ConfigError("tracking keys are encrypted: set MAILQUEUE_MASTER_KEY")
    found = await domains.project_of(app.conn, project)
    await keyring.rotate(app.conn, master, found.id, by=operator())


async def _revoked(app: Opened, project: str, key: str) -> None:
    found = await domains.project_of(app.conn, project)
    await keyring.revoke(app.conn, master_key_of(app.settings), found.id, key, by=operator())
