"""`mailqueue enqueue`: queue an email for each line of a CSV file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click

from mailqueue.cli.sending.enqueue.file import Source, examined
from mailqueue.cli.sending.enqueue.render import StoredTemplate, Templates, compiled
from mailqueue.cli.sending.enqueue.run import Job, Tally, enqueue_file, key_prefix
from mailqueue.cli.support.answer import json_option, print_message
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.mail_options import mail_options
from mailqueue.cli.support.output import examples, show
from mailqueue.cli.support.retrying import retrying_database
from mailqueue.cli.support.text_file import text_file_option
from mailqueue.cli.templates.options import language_option
from mailqueue.contract.suppression import BadLine
from mailqueue.core.errors import Unavailable

EXIT_BAD_LINES = 1


@click.command(
    epilog=examples(
        "mailqueue enqueue people.csv --template-file hello.html --subject 'Hello {{ name }}'",
        "mailqueue enqueue people.csv --text-template-file hi.txt --subject Hi --dry-run",
        "mailqueue enqueue people.csv --template newsletter --language de",
        "psql -c '\\copy (SELECT email, name FROM people) TO STDOUT CSV HEADER' |"
        " mailqueue enqueue - --template-file hello.html --subject News --category marketing",
    )
)
@click.argument("file", metavar="FILE.csv", type=click.File("rb"))
@text_file_option("--template-file", "html", text="Jinja2 template of the HTML body.")
@text_file_option("--text-template-file", "text", text="Jinja2 template of the text body.")
@click.option("--subject", help="Jinja2 template of the subject.")
@click.option(
    "--template", metavar="SLUG", help="Stored template to use instead; SLUG@3 is version 3."
)
@language_option
@mail_options
@click.option(
    "--idempotency-prefix",
    metavar="PREFIX",
    help="Idempotency keys are PREFIX:LINE.  [default: a hash of the file and its templates]",
)
@click.option("--dry-run", is_flag=True, help="Validate every line and queue nothing.")
@json_option
@click.pass_context
def enqueue(
    ctx: click.Context,
    *,
    file: BinaryIO,
    html: str | None,
    text: str | None,
    subject: str | None,
    template: str | None,
    language: str | None,
    options: dict[str, object],
    project: str,
    idempotency_prefix: str | None,
    dry_run: bool,
) -> None:
    """Queue an email for each line of a CSV file with a header.

    The column `email` is the recipient, `name` the display name; every column is a template
    variable. Running the command again queues only the missing emails. Invalid lines are reported
    with their number and do not stop the others.
    """
    words = _words(subject, html, text, template=template, language=language)
    source = examined(file, getattr(file, "name", "standard input"))
    job = Job(
        source=source,
        words=words,
        options=options,
        project=project,
        prefix=idempotency_prefix
        or (
            key_prefix(source, subject, html, text)
            if template is None
            else key_prefix(source, "template", template, language)
        ),
        is_trial=dry_run,
    )
    tally = run(_enqueue(job))
    _print(tally, dry_run=dry_run)
    if tally.bad:
        ctx.exit(EXIT_BAD_LINES)


def _words(
    subject: str | None,
    html: str | None,
    text: str | None,
    *,
    template: str | None,
    language: str | None,
) -> Templates | StoredTemplate:
    """Return the content of all emails: templates from files, or a stored template."""
    if template is not None:
        if subject is not None or html is not None or text is not None:
            raise click.UsageError("--template cannot be combined with --subject or template files")
        return StoredTemplate(template, language)
    if html is None and text is None:
        raise click.UsageError("give --template, --template-file, --text-template-file or both")
    if subject is None or language is not None:
        raise click.UsageError(
            "give --subject" if subject is None else "--language needs --template"
        )
    return compiled(subject=subject, html=html, text=text)


async def _enqueue(job: Job) -> Tally:
    tally = Tally()
    try:
        with _progress(job.source) as advance:
            async with opened() as app, retrying_database(app) as database:
                await enqueue_file(database, job, tally=tally, tell=_tell, advance=advance)
    except Unavailable as exc:
        queued = tally.lines["queued"]
        if not queued:
            raise
        kept = f"{queued} lines were queued: run the same command again to queue the rest"
        raise Unavailable(f"{exc}\n{kept}") from exc
    return tally


def _tell(bad: BadLine) -> None:
    click.echo(f"line {bad.line}: {show(bad.text)}", err=True)


def _print(tally: Tally, *, dry_run: bool) -> None:
    document = tally.result(is_trial=dry_run)
    words = "would be queued" if dry_run else "queued"
    lines = "line" if len(tally.bad) == 1 else "lines"
    print_message(
        document,
        f"{document.queued} {words}, {document.there_already} already queued, "
        f"{document.suppressed} suppressed, {len(document.bad)} bad {lines}",
    )


@contextmanager
def _progress(source: Source) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if standard error is a terminal; yield a function that advances it."""
    if not sys.stderr.isatty():
        yield lambda _line: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    # Redirects standard error while it is shown, so that bad lines stand above the bar.
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("queueing", total=source.lines)
        yield lambda line: bar.update(task, completed=line)
