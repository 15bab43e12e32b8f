"""`mailqueue send`: queue one email, and optionally wait for its outcome."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import uuid4

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_result, prints_json
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.attachment_options import attachment_options
from mailqueue.cli.support.mail_options import given_only, mail_options
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.retrying import RetryingDatabase, retrying_database
from mailqueue.cli.support.text_file import text_file_option
from mailqueue.cli.templates.options import template_options
from mailqueue.contacts.model import is_list_name
from mailqueue.contract.emails import OperatorEmail
from mailqueue.contract.sending import Sent, SentAndExplained
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.acceptance import accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.accept.lists import EXPANDING, accept_for_list, is_list
from mailqueue.mail.accept.log_lines import log_emails
from mailqueue.operations.emails import explain
from mailqueue.projects.ids import project_id_of
from mailqueue.templates.cache import TemplateCache

EXIT_NOT_SENT = 1

_LOOK_SECONDS = 0.2
_DIGITS = re.compile(r"\d+")
_QUEUED = ("pending", "assigned")
_OPTIONS = {"recipient_email": "--to", "html_body": "--html-file", "text_body": "--text"}
"""Options of fields that are not named like them."""
_FIELD = re.compile(rf"\b({'|'.join(_OPTIONS)})\b")


@click.command(
    epilog=examples(
        "mailqueue send --to ann@example.com --subject Hello --text 'Hello Ann'",
        "mailqueue send --to 'Ann <ann@example.com>' --subject Bill --html-file bill.html --wait",
        "mailqueue send --to ann@example.com --subject Hi --text Hi --run-at 2030-05-01T08:00:00Z",
        "mailqueue send --to ann@example.com --subject Bill --text 'See there.' --attach bill.pdf",
        "mailqueue send --to ann@example.com --template welcome --var name=Ann",
        "mailqueue send --to news --category marketing --template weekly-digest",
    )
)
@click.option(
    "--to",
    multiple=True,
    required=True,
    metavar="ADDRESS",
    help="Recipient address; may be repeated. Or the name of a list of contacts, alone.",
)
@click.option("--cc", multiple=True, metavar="ADDRESS", help="Copy recipient; may be repeated.")
@click.option(
    "--bcc", multiple=True, metavar="ADDRESS", help="Blind copy recipient; may be repeated."
)
@click.option("--subject", help="Subject; required without --template.")
@text_file_option("--html-file", "html", text="File of the HTML body; - is standard input.")
@text_file_option("--text-file", text="File of the text body; - is standard input.")
@click.option("--text", help="Text body.")
@click.option(
    "--idempotency-key",
    metavar="KEY",
    help="Idempotency key: the email is queued once, however often the command runs.",
)
@template_options
@attachment_options
@mail_options
@click.option(
    "--wait", is_flag=True, help="Wait for the outcome; exit 1 unless the email was sent."
)
@json_option
@click.pass_context
def send(
    ctx: click.Context,
    *,
    to: tuple[str, ...],
    cc: tuple[str, ...],
    bcc: tuple[str, ...],
    subject: str | None,
    html: str | None,
    text_file: str | None,
    text: str | None,
    idempotency_key: str | None,
    template: dict[str, object],
    attached: list[dict[str, str]],
    shown: list[dict[str, str]],
    options: dict[str, object],
    project: str,
    wait: bool,
) -> None:
    """Queue one email and print its id."""
    if text is not None and text_file is not None:
        raise click.UsageError("give --text or --text-file, not both")
    if subject is None and not template:
        raise click.UsageError("give --subject, or --template")
    recipient, *further = to
    own = given_only(
        {
            "to": tuple(further),
            "cc": cc,
            "bcc": bcc,
            "attachments": (*attached, *shown),
            # One of its own where none is given: a lost answer is asked for again.
            "idempotency_key": idempotency_key or str(uuid4()),
        }
    )
    body = text if text is not None else text_file
    email = NewEmail(recipient, subject, html, body, options | own | template)
    if wait and is_list_name(recipient):
        raise click.UsageError(
            "--wait is for one email; `mailqueue email list --batch ID` has those of a list"
        )
    try:
        found = execute(lambda app: _send(app, email, project, wait=wait))
    except InvalidField as exc:
        raise by_option(ctx.command, exc) from None

    def as_text() -> None:
        if wait or found.status != "queued":
            click.echo(found.why, err=True)

    print_result(found, as_text)
    if wait and found.status != "sent":
        ctx.exit(EXIT_NOT_SENT)


def by_option(command: click.Command, fault: InvalidField) -> InvalidField:
    """Return a fault that names options of a command in place of fields. Pure."""
    options = dict(_OPTIONS)
    for one in command.params:
        if isinstance(one, click.Option) and one.name is not None:
            options[one.name] = one.opts[0]
    why = _FIELD.sub(lambda found: _OPTIONS[found[0]], fault.why)
    return InvalidField(options.get(fault.field, fault.field), why, fault.refusal)


async def _send(app: Opened, email: NewEmail, project: str, *, wait: bool) -> SentAndExplained:
    async with retrying_database(app) as database:
        sent = await database.call(partial(_accepted, email=email, project=project))
        if not prints_json():
            click.echo(sent.id)
        log_emails(project, [email], [None if sent.status == EXPANDING else sent])
        if sent.status == EXPANDING:
            why = f"workers make its emails: mailqueue email list --batch {sent.id}"
            return SentAndExplained(sent.id, sent.status, sent.reason, why)
        look = partial(explain, email_id=sent.id)
        found = await (_outcome(database, look) if wait else database.call(look))
        status = "queued" if found.status in _QUEUED else found.status
        return SentAndExplained(found.id, status, found.reason, found.why)


async def _accepted(conn: Conn, email: NewEmail, project: str) -> Sent:
    if is_list_name(email.recipient):
        project_id = await project_id_of(conn, project)
        if await is_list(conn, email, project_id):
            return await accept_for_list(conn, email, project_id, by=operator())
    return await accept_one(conn, email, project=project, templates=TemplateCache())


async def _outcome(
    database: RetryingDatabase, look: Callable[[Conn], Awaitable[OperatorEmail]]
) -> OperatorEmail:
    """Poll until the email is finished or held; print each new reason for waiting."""
    told = ""
    while (found := await database.call(look)).status in _QUEUED:
        if _DIGITS.sub("", found.why) != told:  # a queue that gets shorter is no news
            click.echo(found.why, err=True)
            told = _DIGITS.sub("", found.why)
        await asyncio.sleep(_LOOK_SECONDS)
    return found
