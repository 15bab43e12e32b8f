"""`mailqueue sender test`: connect to an account's server, and optionally send a test email."""

from datetime import UTC, datetime
from uuid import uuid4

import click

from mailqueue.cli.senders.view import server_of
from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.output import examples, paint, show
from mailqueue.core.address import Address, InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.core.verdict import Accepted, AllRefused, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt, Transport
from mailqueue.senders import accounts
from mailqueue.senders.identity import with_project_defaults
from mailqueue.senders.model import SenderAccount
from mailqueue.senders.trial import SenderTestResult, trial_mail, try_out
from mailqueue.senders.values import test_of
from mailqueue.smtp.client.transcript import Transcript
from mailqueue.wiring import sending

EXIT_REFUSED = 1


@click.command(
    epilog=examples(
        "mailqueue sender test relay", "mailqueue sender test relay --to ann@example.com --json"
    )
)
@click.argument("name")
@click.option("--project", default="default", show_default=True, help="Project of the account.")
@click.option(
    "--to", metavar="ADDRESS", help="Address to send a test email to; without it, nothing is sent."
)
@json_option
@click.pass_context
def test(ctx: click.Context, *, name: str, project: str, to: str | None) -> None:
    """Connect, start TLS and log in, and print the result. Exit 1 if the account does not work."""
    recipient = None if to is None else _recipient(to)

    transcript = Transcript()

    async def tried() -> tuple[SenderAccount, SenderTestResult]:
        async with opened() as app:
            account = await accounts.find(app.conn, project, name=name)
            transport = await _transport(app, account, transcript)
            named = await with_project_defaults(app.conn, account)
        # The database is let go before the network is waited for.
        mail = None if recipient is None else _mail(named, recipient)
        return account, await try_out(transport, mail)

    account, trial = run(tried())
    print_result(test_of(trial, transcript), lambda: _print(account, trial, to=to))
    if not trial.is_ok:
        ctx.exit(EXIT_REFUSED)


def _recipient(text: str) -> Address:
    try:
        return parse_address(text)
    except InvalidAddress as exc:
        raise InvalidField("to", str(exc)) from exc


def _mail(account: SenderAccount, recipient: Address) -> SendAttempt:
    return trial_mail(account, recipient, email_id=uuid4(), now=datetime.now(UTC))


async def _transport(app: Opened, account: SenderAccount, transcript: Transcript) -> Transport:
    if account.smtp_host is None and not account.provider.has_api:
        raise InvalidField(
            "name",
            f"{account.name} is of provider {account.provider}, which has no SMTP server to test",
        )
    master = app.master_key() if account.smtp_password else None
    password = await accounts.password_of(app.conn, account, master=master)
    return sending.transport_for(
        account, password, allowed_hosts=app.settings.allowed_hosts, transcript=transcript
    )


def _print(account: SenderAccount, trial: SenderTestResult, *, to: str | None) -> None:
    server = server_of(account)
    if not trial.is_ok:
        click.echo(f"error: {account.name} ({server}): {_words(trial.verdict)}", err=True)
        return
    works = paint(f"{account.name} works", colour="green")
    click.echo(f"{works}: {server} accepted the connection in {trial.connect_ms} ms")
    if trial.verdict is not None:
        click.echo(f"the email to {to} was accepted in {trial.send_ms} ms: {_words(trial.verdict)}")


def _words(verdict: Verdict | None) -> str:
    match verdict:
        case Accepted():
            return show(f"{verdict.code} {verdict.reply}")
        case Rejected():
            said = " ".join(word for word in (verdict.code, verdict.detail) if word)
            return f"{show(said)} ({verdict.kind}, at {verdict.stage})"
        case AllRefused():
            return "; ".join(_words(refused.why) for refused in verdict.refused)
        case None:
            return show(None)
