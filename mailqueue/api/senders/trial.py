"""Endpoints that test a sender account and show its health."""

from dataclasses import fields
from datetime import UTC, datetime
from uuid import uuid4

from mailqueue.api.http.context import Call
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.kek_header import lent_key, own_key_of
from mailqueue.api.senders.schema import TestRequest
from mailqueue.api.senders.views import account_of
from mailqueue.contract.senders import SenderCircuit, SenderTest, SmtpLine
from mailqueue.core.address import Address, InvalidAddress, parse_address
from mailqueue.core.errors import Forbidden, InvalidField
from mailqueue.core.verdict import Accepted, AllRefused, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt
from mailqueue.senders import accounts, health
from mailqueue.senders.identity import as_project_says
from mailqueue.senders.model import SenderAccount
from mailqueue.senders.trial import SenderTestResult, trial_mail, try_out
from mailqueue.smtp.client.transcript import Transcript
from mailqueue.tenants.model import Scope
from mailqueue.vault.masterkey import master_key_of

ONE = "/v1/projects/{pid}/smtp-configs/{config_id}"
_TAG = "Sender accounts"


async def test(call: Call) -> SenderTest:
    """Connect, log in and, on request, send an email; return the server's replies."""
    body: TestRequest = call.body
    if call.caller.is_test:
        raise Forbidden("a live key: mail of a test key goes to the trap only")
    to = None if body.to is None else _recipient(body.to)
    own = own_key_of(call.request)
    async with call.connection() as conn, lent_key(call, own, conn):
        account = await account_of(conn, call)
        master = master_key_of(call.settings) if account.smtp_password else None
        password = await accounts.password_of(conn, account, master=master)
        named = await as_project_says(conn, account)
    # The connection is released before the network is used.
    transcript = Transcript()
    mail = None if to is None else _mail(named, to)
    transport = call.services.open_way(account, password, transcript)
    return _tried(await try_out(transport, mail), transcript)


def _recipient(text: str) -> Address:
    try:
        return parse_address(text)
    except InvalidAddress as exc:
        raise InvalidField("to", str(exc)) from exc


def _mail(account: SenderAccount, to: Address) -> SendAttempt:
    try:
        return trial_mail(account, to, email_id=uuid4(), now=datetime.now(UTC))
    except InvalidField as exc:
        raise InvalidField("from_email", exc.why) from None


def _tried(trial: SenderTestResult, transcript: Transcript) -> SenderTest:
    verdict = trial.verdict
    said = verdict if isinstance(verdict, Accepted) else _refusal(verdict)
    refused = said if isinstance(said, Rejected) else None
    detail = said.reply if isinstance(said, Accepted) else refused.detail if refused else None
    return SenderTest(
        success=trial.is_ok,
        sent=None if trial.send_ms is None else trial.is_ok,
        connect_ms=trial.connect_ms,
        send_ms=trial.send_ms,
        kind=refused.kind if refused else None,
        code=said.code if said else None,
        detail=detail,
        stage=refused.stage if refused else None,
        transcript=[SmtpLine(line.by, line.text) for line in transcript.lines],
    )


def _refusal(verdict: Verdict | None) -> Rejected | None:
    match verdict:
        case Rejected():
            return verdict
        case AllRefused():
            return verdict.refused[0].why
        case _:
            return None


async def show_health(call: Call) -> SenderCircuit:
    """Return the health of an account."""
    async with call.connection() as conn:
        account = await account_of(conn, call)
        found = await health.of_account(conn, account.project, name=account.name)
    named = {field.name for field in fields(SenderCircuit)} - {"circuit_state"}
    values = {name: getattr(found, name) for name in named}
    return SenderCircuit(circuit_state=found.circuit, **values)


TRIAL_ENDPOINTS = (
    Endpoint(
        "POST",
        f"{ONE}/test",
        Scope.PROJECT_WRITE,
        "Test a sender account, optionally with a test email.",
        test,
        request=TestRequest,
        response=SenderTest,
        tag=_TAG,
        once=Once.APART,
        example={"to": "you@example.com"},
        description="Connects and logs in; an email is sent only if `to` is given. The "
        "transcript has the SMTP dialogue without credentials.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        f"{ONE}/health",
        Scope.PROJECT_READ,
        "Show the health of a sender account: circuit breaker, failures, fixes.",
        show_health,
        response=SenderCircuit,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
)
