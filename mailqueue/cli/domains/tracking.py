"""`mailqueue tracking`: where links in a project's mail lead, and the keys of their tokens."""

from dataclasses import asdict, dataclass
from datetime import datetime

import click

from mailqueue.cli.domains.dkim.options import name_servers, resolver_option
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import Column, emit, examples, facts, json_option, table
from mailqueue.contract.domains import TrackingDomainCheck
from mailqueue.core.errors import ConfigError
from mailqueue.deliverability.resolver import Resolver
from mailqueue.tracking import domains, keyring
from mailqueue.tracking.model import TrackingKeyDates
from mailqueue.vault.masterkey import master_key_of

EXIT_LEADS_ELSEWHERE = 1
_COLUMNS = (
    Column("id", "KEY"),
    Column("created_at", "MADE"),
    Column("retired_at", "RETIRED"),
)


@dataclass(frozen=True, slots=True)
class _Shown:
    links_begin_with: str | None
    tracking_domain: str | None
    verified_at: datetime | None
    keys: list[TrackingKeyDates]


@click.group(
    epilog=examples(
        "mailqueue tracking show shop",
        "mailqueue tracking verify shop",
        "mailqueue tracking rotate shop",
    )
)
def tracking() -> None:
    """See where links in mail lead, check a project's own domain, replace keys of tokens."""


@tracking.command(
    epilog=examples("mailqueue tracking show shop", "mailqueue tracking show shop --json")
)
@click.argument("project")
@json_option
def show(*, project: str, as_json: bool) -> None:
    """Show what links in a project's mail begin with, and the keys of their tokens."""
    found = run(_found(project))
    if as_json:
        emit(asdict(found))
        return
    facts(
        (
            ("links begin with", found.links_begin_with or "nothing: MAILQUEUE_PUBLIC_URL"),
            ("tracking domain", found.tracking_domain),
            ("verified at", found.verified_at),
        )
    )
    if found.keys:
        table(found.keys, _COLUMNS)


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
def verify(ctx: click.Context, *, project: str, resolver: str | None, as_json: bool) -> None:
    """Look the project's tracking domain up; if it leads here, links in its mail use it.

    Exit 1 when it leads elsewhere or nobody answered.
    """
    check = run(_verified(project, resolver))
    if as_json:
        emit(asdict(check))
    else:
        facts(
            (
                ("domain", check.domain),
                ("leads here", {True: "yes", False: "no", None: "unknown"}[check.leads_here]),
                ("says", check.says),
                ("found", ", ".join(check.found)),
                ("wanted", ", ".join(check.wanted)),
                ("publish", None if check.leads_here else check.publish),
                ("verified at", check.verified_at),
            )
        )
    if not check.leads_here:
        ctx.exit(EXIT_LEADS_ELSEWHERE)


@tracking.command(epilog=examples("mailqueue tracking rotate shop"))
@click.argument("project")
@json_option
def rotate(*, project: str, as_json: bool) -> None:
    """Make the tokens of a project's mail with a new key; links already sent stay good.

    Workers that run use it within ten minutes.
    """
    run(_rotated(project))
    found = run(_found(project))
    if as_json:
        emit(asdict(found))
    else:
        table(found.keys, _COLUMNS)


async def _found(project: str) -> _Shown:
    async with opened() as app:
        found = await domains.project_of(app.conn, project)
        base = app.settings.tracking.public_url
        return _Shown(
            links_begin_with=f"https://{found.domain}" if found.checked_at else base,
            tracking_domain=found.domain,
            verified_at=found.checked_at,
            keys=await keyring.keys_of(app.conn, found.id),
        )


async def _verified(project: str, resolver: str | None) -> TrackingDomainCheck:
    async with opened() as app:
        found = await domains.project_of(app.conn, project)
        check = await domains.look_up(
            found,
            public_url=app.settings.tracking.public_url,
            resolver=Resolver(name_servers(resolver, app.settings.name_servers)),
        )
        return await domains.noted(app.conn, found, check)


async def _rotated(project: str) -> None:
    async with opened() as app:
        master = master_key_of(app.settings)
        if master is None:
            raise ConfigError("keys of links are sealed: set MAILQUEUE_MASTER_KEY")
        found = await domains.project_of(app.conn, project)
        await keyring.rotate(app.conn, master, found.id)
