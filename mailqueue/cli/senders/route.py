"""`mailqueue route`: rules that choose sender accounts for emails that name none."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.senders import Route
from mailqueue.senders.routes import manage as routes_manage
from mailqueue.senders.routes.model import NewRoute

_RULES = (
    Column("project", "PROJECT"),
    Column("position", "POSITION", numeric=True),
    Column("rule_id", "RULE", numeric=True),
    Column("category", "CATEGORY"),
    Column("tag", "TAG"),
    Column("domain", "DOMAIN"),
    Column("senders", "SENDERS"),
    Column("note", "NOTE"),
)
_CANDIDATES = (
    Column("rule_id", "RULE", numeric=True),
    Column("sender", "SENDER"),
    Column("is_fallback", "FALLBACK"),
    Column("blocked_reason", "WAITS FOR"),
    Column("blocked_until", "UNTIL"),
)
_project = click.option(
    "--project", default="default", show_default=True, help="Project of the rule."
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue route add --category marketing --sender bulk",
        "mailqueue route list",
        "mailqueue route test --recipient ann@example.com",
    ),
)
def route() -> None:
    """Route emails to sender accounts by category, tag or recipient domain."""


@route.command(
    epilog=examples(
        "mailqueue route add --category marketing --sender bulk --sender spare",
        "mailqueue route add --domain '*.example.com' --sender relay --position 1",
        "mailqueue route add --tag invoice --sender relay --note 'they want one sender'",
    )
)
@click.option("--category", help="Match emails of this category.")
@click.option("--tag", help="Match emails with this tag.")
@click.option(
    "--domain", help="Match recipients at example.com, or at its subdomains with *.example.com."
)
@click.option(
    "--sender",
    "senders",
    multiple=True,
    required=True,
    help="Account to use; repeat for further accounts, in order.",
)
@click.option("--position", type=int, help="Position among the rules.  [default: last]")
@click.option("--note", help="Note for the operators, such as the reason.")
@_project
@json_option
def add(
    *,
    category: str | None,
    tag: str | None,
    domain: str | None,
    senders: tuple[str, ...],
    position: int | None,
    note: str | None,
    project: str,
) -> None:
    """Add a rule for emails accepted from now on. The first matching rule applies."""
    new = NewRoute(senders, category, tag, domain, position, note)
    added = execute(lambda app: routes_manage.add(app.conn, project, new=new, by=operator()))
    print_rows([added], _RULES)


@route.command("list", epilog=examples("mailqueue route list", "mailqueue route list --json"))
@click.option("--project", help="Filter by project.")
@json_option
def list_(*, project: str | None) -> None:
    """List rules in the order in which they are evaluated."""
    found = execute(lambda app: routes_manage.list_all(app.conn, project=project))
    print_rows(found, _RULES)


@route.command(epilog=examples("mailqueue route remove 7", "mailqueue route remove 7 --json"))
@click.argument("rule", type=int)
@_project
@asks_first("Remove rule {rule} of project {project}?")
@json_option
def remove(*, rule: int, project: str) -> None:
    """Remove rule RULE. Its queued emails are sent by the accounts for emails without a rule."""

    async def removed(app: Opened) -> list[Route]:
        await routes_manage.remove(app.conn, project, rule_id=rule, by=operator())
        return await routes_manage.list_all(app.conn, project=project)

    print_rows(execute(removed), _RULES)


@route.command(
    epilog=examples(
        "mailqueue route test --recipient ann@example.com",
        "mailqueue route test --recipient ann@example.com --category marketing --tag spring",
    )
)
@click.option("--recipient", required=True, help="Recipient address.")
@click.option(
    "--category", default="transactional", show_default=True, help="Category of the email."
)
@click.option("--tag", "tags", multiple=True, help="Tag of the email; may be repeated.")
@_project
@json_option
def test(*, recipient: str, category: str, tags: tuple[str, ...], project: str) -> None:
    """Show which rule and accounts an email would use now."""
    found = execute(
        lambda app: routes_manage.candidates(
            app.conn, project, recipient=recipient, category=category, tags=list(tags)
        )
    )
    print_rows(found, _CANDIDATES)
