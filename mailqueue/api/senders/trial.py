"""Endpoints that test a sender account and show its health."""

from datetime import UTC, datetime
from uuid import uuid4

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.senders.schema import TestRequest
from mailqueue.api.senders.views import account_of
from mailqueue.contract.senders import SenderCircuit, SenderTest
from mailqueue.core.address import Address, InvalidAddress, parse_address
from mailqueue.core.errors import Forbidden, InvalidField
from mailqueue.ports.transport import SendAttempt
from mailqueue.projects.model import Scope
from mailqueue.senders import accounts, health
from mailqueue.senders.identity import with_project_defaults
from mailqueue.senders.model import SenderAccount
from mailqueue.senders.trial import trial_mail, try_out
from mailqueue.senders.values import circuit_of, test_of
from mailqueue.smtp.client.transcript import Transcript
from mailqueue.vault.masterkey import master_key_of

ONE = "/v1/projects/{pid}/smtp-configs/{config_id}"
_TAG = "Sender accounts"


async def test(call: RequestContext) -> SenderTest:
    """Connect, log in and, on request, send an email; return the server's replies."""
    body: TestRequest = call.body
    if call.caller.is_test:
        raise Forbidden("a live key: mail of a test key goes to the trap only")
    to = None if body.to is None else _recipient(body.to)
    own = own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        account = await account_of(conn, call)
        master = master_key_of(call.settings) if account.smtp_password else None
        password = await accounts.password_of(conn, account, master=master)
        named = await with_project_defaults(conn, account)
    # The connection is released before the network is used.
    transcript = Transcript()
    mail = None if to is None else _mail(named, to)
    transport = call.services.open_way(account, password, transcript)
    return test_of(await try_out(transport, mail), transcript)


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


async def show_health(call: RequestContext) -> SenderCircuit:
    """Return the health of an account."""
    async with call.connection() as conn:
        account = await account_of(conn, call)
        found = await health.of_account(conn, account.project, name=account.name)
    return circuit_of(found)


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
