"""`mailqueue doctor`: checks of the installation, with fixes."""

import click

from mailqueue.admin.boards import health_of
from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.app import run
from mailqueue.cli.support.output import examples, paint, show
from mailqueue.cli.support.settings import command_settings
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations.doctor.checks import examine
from mailqueue.operations.doctor.context import CheckContext, check_of, problem
from mailqueue.operations.model import CheckState, Finding
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import master_key_of
from mailqueue.wiring.files import attachment_storage

EXIT_UNSOUND = 1
_WORDS = {
    CheckState.OK: ("ok   ", "green"),
    CheckState.WARNING: ("warn ", "yellow"),
    CheckState.ALARM: ("ALARM", "red"),
}


@click.command(epilog=examples("mailqueue doctor", "mailqueue doctor --json"))
@json_option
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check the server, the schema and the queue, and suggest fixes. Exit 1 on an alarm or failure.

    Most checks come from the view mailqueue.health, with thresholds in mailqueue.system_settings.
    A warning needs attention if it persists; an alarm needs attention now.
    """
    findings = run(_examine(command_settings()))
    failed = [finding for finding in findings if not finding.is_ok]

    def as_text() -> None:
        _print(findings)
        click.echo(f"{len(findings)} checks, {_summary(findings)}")

    print_result(health_of([check_of(each) for each in findings]), as_text)
    if failed:
        ctx.exit(EXIT_UNSOUND)


def _patient(settings: Settings, conn: Conn) -> CheckContext:
    storage = attachment_storage(settings.attachments)
    return CheckContext(settings, conn, lambda: master_key_of(settings), storage)


async def _examine(settings: Settings) -> list[Finding]:
    try:
        async with connect(settings.database, application_name="mailqueue/doctor") as conn:
            return await examine(_patient(settings, conn))
    except MailqueueError as exc:
        # The sentence names the fix itself; no other check is possible.
        return [problem("server", str(exc), fix="fix this and run `mailqueue doctor` again")]


def _summary(findings: list[Finding]) -> str:
    failed = [finding for finding in findings if not finding.is_ok]
    hints = [finding.says for finding in findings if finding.is_ok and finding.fix]
    alarms = sum(finding.state is CheckState.ALARM for finding in failed)
    warnings = len(failed) - alarms
    told = [
        f"{count} {noun}{'s' if count > 1 else ''}"
        for count, noun in ((alarms, "alarm"), (warnings, "warning"))
        if count
    ]
    return "; ".join([", ".join(told) or "no alarm and no warning", *hints])


def _print(findings: list[Finding]) -> None:
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        word, colour = _WORDS[finding.state]
        click.echo(
            f"{paint(word, colour=colour)}  {finding.check.ljust(width)}  {show(finding.says)}"
        )
        if finding.fix:
            click.echo(f"{' ' * (width + 9)}fix: {show(finding.fix)}")
