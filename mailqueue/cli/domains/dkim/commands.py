"""`mailqueue dkim`: the keys that sign a domain's emails."""

import click

from mailqueue.cli.domains.dkim.check import check
from mailqueue.cli.domains.dkim.options import name_servers, project_option, resolver_option
from mailqueue.cli.domains.dkim.view import FINE, print_keys, print_publications, print_records
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import examples
from mailqueue.contract.domains import SigningRequirement
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys, publication
from mailqueue.domains.model import SigningProject
from mailqueue.domains.resolver import Resolver
from mailqueue.domains.values import key_of

EXIT_NOT_PUBLISHED = 1
_ALGORITHMS = {
    "rsa": (Algorithm.RSA,),
    "ed25519": (Algorithm.ED25519,),
    "both": (Algorithm.RSA, Algorithm.ED25519),
}


@click.group(
    cls=CommandGroup,
    old_names={"create": "add"},
    epilog=examples(
        "mailqueue dkim add example.com --algorithm both",
        "mailqueue dkim verify example.com",
        "mailqueue dkim check example.com",
        "mailqueue dkim COMMAND --help",
    ),
)
def dkim() -> None:
    """Add, publish and rotate the keys that sign a domain's emails; check its DNS."""


dkim.add_command(check)


@dkim.command(
    epilog=examples(
        "mailqueue dkim add example.com",
        "mailqueue dkim add example.com --algorithm both",
        "mailqueue dkim add example.com --project shop --selector shop1 --json",
    )
)
@click.argument("domain")
@project_option
@click.option(
    "--algorithm",
    type=click.Choice(list(_ALGORITHMS)),
    default="rsa",
    show_default=True,
    help="Algorithm of the key; `both` adds two signatures to each email.",
)
@click.option("--selector", help="Selector of the key in DNS.  [default: derived from the date]")
@json_option
def add(*, domain: str, project: str, algorithm: str, selector: str | None) -> None:
    """Add the first keys of DOMAIN and print the DNS records to publish.

    The keys sign emails after `mailqueue dkim verify` has found the records in DNS.
    """
    print_records(
        execute(
            lambda app: keys.create(
                app.conn,
                project,
                domain=domain,
                algorithms=_ALGORITHMS[algorithm],
                selector=selector,
                master=app.master_key(),
                by=operator(),
            )
        )
    )


@dkim.command(epilog=examples("mailqueue dkim rotate example.com"))
@click.argument("domain")
@project_option
@json_option
def rotate(*, domain: str, project: str) -> None:
    """Create a successor for each active key of DOMAIN.

    The old key signs until `mailqueue dkim verify` has found the new record in DNS.
    """
    print_records(
        execute(
            lambda app: keys.rotate(
                app.conn, project, domain=domain, master=app.master_key(), by=operator()
            )
        )
    )


@dkim.command("list", epilog=examples("mailqueue dkim list", "mailqueue dkim list --json"))
@click.option("--project", help="Filter by project.")
@json_option
def list_(*, project: str | None) -> None:
    """List keys and their status. Private keys are never shown."""
    found = execute(lambda app: keys.list_keys(app.conn, project=project))
    print_keys(found, project=project)


@dkim.command(
    epilog=examples("mailqueue dkim show example.com", "mailqueue dkim show example.com --json")
)
@click.argument("domain")
@project_option
@json_option
def show(*, domain: str, project: str) -> None:
    """Print the DNS records of DOMAIN's keys, ready to paste into its zone."""
    print_records(execute(lambda app: keys.list_keys(app.conn, project=project, domain=domain)))


@dkim.command(
    epilog=examples(
        "mailqueue dkim verify example.com",
        "mailqueue dkim verify example.com --resolver 192.0.2.53",
        "mailqueue dkim verify example.com --force",
    )
)
@click.argument("domain")
@project_option
@click.option("--force", is_flag=True, help="Activate pending keys without checking DNS.")
@click.option(
    "--keep",
    default="7d",
    show_default=True,
    help="Time for which the DNS record of a replaced key must stay published.",
)
@resolver_option
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    *,
    domain: str,
    project: str,
    force: bool,
    keep: str,
    resolver: str | None,
) -> None:
    """Check DOMAIN's keys in DNS, and activate pending keys whose records are published.

    Exit 1 when a record is missing or wrong.
    """
    try:
        kept = parse_duration(keep)
    except ValueError as exc:
        raise InvalidField("keep", str(exc)) from None

    if force:
        print_keys(
            execute(
                lambda app: publication.force(
                    app.conn, project, domain=domain, keep=kept, by=operator()
                )
            ),
            project=project,
        )
        return
    found = execute(
        lambda app: publication.verify(
            app.conn,
            project,
            domain=domain,
            resolver=Resolver(name_servers(resolver, app.settings.name_servers)),
            keep=kept,
            by=operator(),
        )
    )
    print_publications(found)
    if any(each.in_dns not in FINE for each in found):
        ctx.exit(EXIT_NOT_PUBLISHED)


@dkim.command(epilog=examples("mailqueue dkim revoke example.com mq20260301-rsa"))
@click.argument("domain")
@click.argument("selector")
@project_option
@asks_first("The private key {selector} of {domain} cannot be restored. Delete it?")
@json_option
def revoke(*, domain: str, selector: str, project: str) -> None:
    """Delete a private key at once and print the DNS record that revokes it."""
    gone = execute(
        lambda app: keys.revoke(app.conn, project, domain=domain, selector=selector, by=operator())
    )
    print_records([gone], key_of(gone))


@dkim.command(epilog=examples("mailqueue dkim require shop", "mailqueue dkim require shop off"))
@click.argument("project")
@click.argument("setting", metavar="[on|off]", type=click.Choice(["on", "off"]), default="on")
@json_option
def require(*, project: str, setting: str) -> None:
    """Require DKIM for PROJECT: emails without a key for their domain wait."""

    async def work(app: Opened) -> SigningProject:
        is_required = setting == "on"
        return await keys.require(app.conn, project, is_required=is_required, by=operator())

    found = execute(work)
    print_facts(
        SigningRequirement(found.name, found.is_dkim_required),
        [("project", found.name), ("signed mail only", found.is_dkim_required)],
    )
