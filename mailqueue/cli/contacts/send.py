"""`mailqueue list send`: mail to all contacts of a list."""

from typing import Any, TextIO
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples, show
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contacts import lists
from mailqueue.contacts.sends import sending
from mailqueue.contacts.sends.model import ListSend
from mailqueue.contract.contacts import BegunListSend, ListCount
from mailqueue.core.errors import InvalidField
from mailqueue.projects.ids import project_id_of

_OPTIONS = ("category", "priority", "from_email", "sender", "campaign_id")


@click.command(
    epilog=examples(
        "mailqueue list send news --template weekly-digest --variable Edition=48",
        "mailqueue list send news --subject 'We moved' --text moved.txt --dry-run",
    )
)
@click.argument("name", metavar="LIST")
@click.option("--template", metavar="SLUG", help="Template: slug, or slug@version.")
@click.option("--subject", metavar="TEXT", help="Subject, without a template.")
@click.option("--text", type=click.File(encoding="utf-8"), help="File of the plain text body.")
@click.option("--html", type=click.File(encoding="utf-8"), help="File of the HTML body.")
@click.option(
    "--variable",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="Variable of the template; may be repeated. Each email has its contact as `contact`.",
)
@click.option("--tag", "tags", multiple=True, help="Tag of each email; may be repeated.")
@click.option("--category", help="Category, such as marketing.")
@click.option(
    "--priority",
    type=click.Choice(["critical", "high", "normal", "low"]),
    help="Priority of the emails.  [default: normal]",
)
@click.option("--from", "from_email", metavar="EMAIL", help="Sender address.")
@click.option("--sender", metavar="NAME", help="Sender account.")
@click.option("--campaign", "campaign_id", metavar="ID", help="Campaign of each email.")
@click.option("--dry-run", is_flag=True, help="Count the contacts; send nothing.")
@project_option
@json_option
def send(
    *,
    name: str,
    template: str | None,
    subject: str | None,
    text: TextIO | None,
    html: TextIO | None,
    variables: tuple[str, ...],
    tags: tuple[str, ...],
    dry_run: bool,
    project: str,
    **options: Any,
) -> None:
    """Send an email to every contact of LIST. Workers make the emails.

    `mailqueue email cancel --batch` stops it.
    """
    content: dict[str, Any] = {
        "template": template,
        "subject": subject,
        "text": text and text.read(),
        "html": html and html.read(),
    }
    one = ListSend(
        name,
        {key: value for key, value in content.items() if value is not None},
        options={key: options[key] for key in _OPTIONS if options[key] is not None},
        variables=dict(_pair(each) for each in variables),
        own={"tags": list(tags)} if tags else {},
    )
    if dry_run:
        _count(name, project, options["category"] or "transactional")
        return

    async def begun(app: Opened) -> UUID:
        project_id = await project_id_of(app.conn, project)
        return await sending.begin(app.conn, project_id, one, by=operator())

    batch_id = execute(begun)
    print_message(BegunListSend(batch_id, name), f"batch {batch_id} goes to list {show(name)}")


def _count(name: str, project: str, category: str) -> None:
    async def counted(app: Opened) -> ListCount:
        project_id = await project_id_of(app.conn, project)
        return await lists.count(app.conn, project_id, name, category=category)

    found = execute(counted)
    print_message(
        found,
        f"{found.contacts} contacts; {found.suppressed} of the first {found.checked} are "
        f"suppressed; {found.pending} have not confirmed and get none",
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InvalidField("variable", f"NAME=VALUE is needed, got {text[:100]!r}")
    return name, value
