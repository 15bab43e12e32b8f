"""`mailqueue worker submission`: accept emails from programs by SMTP."""

from pathlib import Path

import click
import uvloop

from mailqueue.api.metrics.serving import metrics_beside
from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.contract.processes import SubmissionListener
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import borrow, open_pool
from mailqueue.process import signals
from mailqueue.settings.environment import Settings
from mailqueue.submission.server import Submission, run
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised

_PORT = click.IntRange(0, 65535)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    epilog=examples(
        "mailqueue worker submission",
        "mailqueue worker submission --host 0.0.0.0 --port 587 --tls-port 465"
        " --certificate /etc/mailqueue/fullchain.pem --key /etc/mailqueue/privkey.pem",
    )
)
@click.option("--host", help="Address to listen on.  [MAILQUEUE_SUBMISSION_HOST; 127.0.0.1]")
@click.option(
    "--port",
    type=_PORT,
    help="Port to listen on; 0 takes a free port.  [MAILQUEUE_SUBMISSION_PORT; 2587]",
)
@click.option(
    "--tls-port",
    type=_PORT,
    help="Port with implicit TLS; 0 takes a free port.  [MAILQUEUE_SUBMISSION_TLS_PORT]",
)
@click.option(
    "--certificate",
    type=_FILE,
    help="File of the certificate chain.  [MAILQUEUE_SUBMISSION_CERTIFICATE]",
)
@click.option(
    "--key", type=_FILE, help="File of the private key.  [MAILQUEUE_SUBMISSION_CERTIFICATE_KEY]"
)
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of `mailqueue up`.")
@json_option
def submission(
    *,
    host: str | None,
    port: int | None,
    tls_port: int | None,
    certificate: Path | None,
    key: Path | None,
    data: Path | None,
) -> None:
    """Accept emails from programs by SMTP, with an API key as the password, until SIGTERM."""
    settings = command_settings(
        submission_host=host,
        submission_port=port,
        submission_tls_port=tls_port,
        submission_certificate=certificate,
        submission_certificate_key=key,
        data=data,
    )
    configure_logging(settings.log)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    async with (
        signals.stop_signal() as stop,
        supervised(stop) as tell_ready,
        open_pool(settings.database, application_name="mailqueue/submission") as pool,
        metrics_beside(settings, pool=pool),
    ):
        async with borrow(pool, settings.database) as conn:
            await require_current(conn)

        def ready(running: Submission) -> None:
            listener = SubmissionListener(running.host, running.port, running.tls_port)
            print_result(listener, lambda: _print(running))
            tell_ready()

        await run(settings, stop, pool=pool, ready=ready)


def _print(running: Submission) -> None:
    click.echo(f"SMTP  smtp://{running.host}:{running.port}", err=True)
    if running.tls_port is not None:
        click.echo(f"TLS   smtps://{running.host}:{running.tls_port}", err=True)
