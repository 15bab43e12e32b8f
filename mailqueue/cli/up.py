"""`mailqueue up`: everything in one command."""

import os
import shlex
import sys
from pathlib import Path

import click
import uvloop

from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.loading import load_module
from mailqueue.cli.support.output import examples, paint
from mailqueue.cli.support.settings import command_settings
from mailqueue.contract.processes import Running
from mailqueue.process import signals
from mailqueue.process.starting.client import ForkServer
from mailqueue.settings.data_folder import default_data
from mailqueue.settings.environment import DatabaseSource, Settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised

FIRST_INSERT = (
    "INSERT INTO mailqueue.email_queue (recipient_email, subject, html_body)"
    " VALUES ('ann@example.com', 'Hello', '<p>It works.</p>')"
)


@click.command(
    epilog=examples(
        "mailqueue up",
        "mailqueue up --port 0 --trap-port 0 --json",
        "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue mailqueue up --workers 4",
    )
)
@click.option(
    "--host", help="Address that HTTP and the mail trap listen on.  [MAILQUEUE_HOST; 127.0.0.1]"
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="HTTP port; 0 takes a free port.  [MAILQUEUE_PORT]",
)
@click.option(
    "--console-port",
    type=click.IntRange(0, 65535),
    help="Port of its own for the console; 0 takes a free port.  [MAILQUEUE_CONSOLE_PORT]",
)
@click.option(
    "--public-port",
    type=click.IntRange(0, 65535),
    help="Port of its own for links in mail and webhooks of providers; 0 takes a free port."
    "  [MAILQUEUE_PUBLIC_PORT]",
)
@click.option(
    "--trap-port",
    type=click.IntRange(0, 65535),
    help="SMTP port of the mail trap; 0 takes a free port.  [MAILQUEUE_TRAP_PORT]",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder, with the private PostgreSQL and the keys.  [MAILQUEUE_DATA]",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    help="Number of send worker processes; 0 runs none.  [MAILQUEUE_WORKERS; one per core]",
)
@click.option(
    "--no-trap", is_flag=True, default=None, help="Run without the mail trap.  [MAILQUEUE_NO_TRAP]"
)
@click.option(
    "--submission-port",
    type=click.IntRange(0, 65535),
    help="Port for SMTP submission by programs; 0 takes a free port.  [MAILQUEUE_SUBMISSION_PORT]",
)
@click.option(
    "--no-submission",
    is_flag=True,
    default=None,
    help="Run without SMTP submission.  [MAILQUEUE_NO_SUBMISSION]",
)
@json_option
def up(
    *,
    host: str | None,
    port: int | None,
    console_port: int | None,
    public_port: int | None,
    trap_port: int | None,
    data: Path | None,
    workers: int | None,
    no_trap: bool | None,
    submission_port: int | None,
    no_submission: bool | None,
) -> None:
    """Run everything: PostgreSQL, the HTTP API, the console, workers and the mail trap.

    PostgreSQL is a private one in the data folder, unless a server is configured.
    Stops on Ctrl-C, SIGTERM or SIGHUP, after emails in flight are finished and recorded.
    """
    settings = command_settings(
        host=host,
        port=port,
        console_port=console_port,
        public_port=public_port,
        trap_port=trap_port,
        data=data,
        workers=workers,
        no_trap=no_trap,
        submission_port=submission_port,
        no_submission=no_submission,
    )
    configure_logging(settings.log)
    uvloop.run(_up(settings))


async def _up(settings: Settings) -> None:
    async with (
        signals.stop_signal() as stop,
        supervised(stop) as tell_ready,
        ForkServer() as forks,
    ):
        await forks.load()
        # Both processes take seconds to load what they run: they do it at the same time.
        run_everything = load_module("mailqueue.process.everything").run_everything

        def ready(running: Running) -> None:
            print_result(running, lambda: _print(running, settings))
            tell_ready()

        await run_everything(settings, stop, say=_say, ready=ready, forks=forks)
    _say("stopped")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _print(running: Running, settings: Settings) -> None:
    def line(name: str, value: object) -> None:
        click.echo(f"  {paint(f'{name:<11}', bold=True)} {value}")

    click.echo(paint("mailqueue is running", colour="green", bold=True))
    line("API", running.api)
    line("Console", running.console)
    if running.public != running.api:
        line("Public", f"{running.public}  (links in mail, webhooks of providers)")
    line("PostgreSQL", running.database)
    if running.trap is not None:
        line("Mail trap", f"{running.trap}  (SMTP {running.trap_smtp})")
    if running.submission is not None:
        line("SMTP", f"{running.submission}  (password: an API key)")
    if running.metrics is not None:
        line("Metrics", running.metrics)
    line("Workers", settings.workers.processes or "none: start some with mailqueue worker send")
    line("Data", running.data)
    if running.console_link is not None:
        click.echo("\nSet the password of the console's first user, once, within 24 hours:\n")
        click.echo(f"  {running.console_link}")
    click.echo("\nSend an email from SQL:\n")
    click.echo(f'  {_psql(settings)} -c "{FIRST_INSERT}"')
    click.echo("\nor by HTTP:\n")
    click.echo(
        f"  curl {running.api}/v1/send -H 'X-API-Key: {running.api_key or 'mq_live_…'}'"
        " -H 'Content-Type: application/json'"
        ' -d \'{"to": ["ann@example.com"], "subject": "Hello", "text_body": "It works."}\''
    )
    if running.trap is not None:
        click.echo(f"\nand see it arrive at {running.trap}")
    click.echo("Ctrl-C stops.\n")


def _psql(settings: Settings) -> str:
    """Return the command line of `mailqueue psql`, because psql need not be installed."""
    called = os.path.abspath(sys.argv[0])
    is_command = os.access(called, os.X_OK) and not called.endswith(".py")
    words = [called] if is_command else [sys.executable, "-m", "mailqueue"]
    command = shlex.join([*words, "psql"])
    if settings.database.source is DatabaseSource.GIVEN:
        return f"MAILQUEUE_DATABASE_URL={shlex.quote(settings.database.url.reveal())} {command}"
    if settings.data != default_data():
        return f"MAILQUEUE_DATA={shlex.quote(str(settings.data))} {command}"
    return command
