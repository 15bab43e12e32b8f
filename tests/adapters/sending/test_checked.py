"""Isolate: what a provider's adapter raises is the outcome of the emails it was called for."""

from collections.abc import Sequence

import pytest

from mailqueue.adapters.http.connection import HttpConnection
from mailqueue.adapters.http.model import HttpRequest, HttpResponse, NetworkPolicy
from mailqueue.adapters.sending import checked
from mailqueue.adapters.sending.api import ProviderApi, ProviderMail
from mailqueue.adapters.sending.http import HttpAccount, HttpTransport
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.ports.transport import SendAttempt
from tests.adapters.sending.documented import KEY
from tests.adapters.sending.fake import fake, says
from tests.adapters.sending.mails import channel_of, mail, mails, sent
from tests.adapters.sending.providers import POSTMARK, SES
from tests.adapters.sending.test_batches import all_taken
from tests.logged import log_of

pytestmark = [pytest.mark.anyio]
BATCH = mails(4)
ODD = BATCH[1].email_id


def kinds(verdicts: Sequence[Verdict]) -> list[Fault | None]:
    return [one.kind if isinstance(one, Rejected) else None for one in verdicts]


def is_odd(group: Sequence[ProviderMail]) -> bool:
    return any(one.mail.email_id == ODD for one in group)


async def test_an_email_that_cannot_be_written_is_retried_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged = log_of(checked, monkeypatch)
    async with fake([POSTMARK.accepts, all_taken(POSTMARK, 2)]) as server:
        service = POSTMARK.service(server.site)
        genuine = service.write

        def write(one: SendAttempt) -> ProviderMail | Rejected:
            if one.email_id == ODD:
                raise RecursionError
            return genuine(one)

        monkeypatch.setattr(service, "write", write)
        async with channel_of(service) as channel:
            verdicts = await sent(channel, BATCH)

    assert kinds(verdicts) == [None, Fault.UNRECOGNIZED, None, None]
    assert verdicts[1] == Rejected(
        Fault.UNRECOGNIZED, "", "RecursionError while composing for the provider", Stage.CONNECT
    )
    assert [request.path for request in server.requests] == ["/email", "/email/batch"]
    assert str(ODD).encode() in logged.getvalue()


async def test_an_email_whose_request_cannot_be_built_is_retried_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others of the request are sent without it, or go back without an attempt."""
    async with fake([POSTMARK.accepts]) as server:
        service = POSTMARK.service(server.site)
        genuine = service.call

        def call(group: Sequence[ProviderMail]) -> HttpRequest:
            if is_odd(group):
                raise KeyError("odd")
            return genuine(group)

        monkeypatch.setattr(service, "call", call)
        async with channel_of(service) as channel:
            verdicts = await sent(channel, BATCH)

    assert kinds(verdicts) == [None, Fault.UNRECOGNIZED, Fault.TRANSIENT, Fault.TRANSIENT]
    assert {one.stage for one in verdicts if isinstance(one, Rejected)} == {Stage.CONNECT}
    assert [request.path for request in server.requests] == ["/email"]


@pytest.mark.parametrize(
    ("status", "kind"), [(200, Fault.AMBIGUOUS), (401, Fault.ACCOUNT), (429, Fault.RATE_LIMITED)]
)
@pytest.mark.parametrize("is_short", [False, True])
async def test_an_answer_that_cannot_be_read_says_what_its_status_says(
    status: int, kind: Fault, *, is_short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a success was handed over for certain, and only that is unknown."""
    async with fake([says(status, {"key": KEY})]) as server:
        service = POSTMARK.service(server.site)

        def judge(_: Sequence[ProviderMail], __: HttpResponse) -> Sequence[Verdict]:
            if is_short:
                return [Accepted("200", "")]
            raise KeyError("odd")

        monkeypatch.setattr(service, "judge", judge)
        async with channel_of(service) as channel:
            verdicts = await sent(channel, BATCH)

    assert kinds(verdicts) == [kind] * 4
    assert KEY not in str(verdicts)
    assert not any(one.stops for one in verdicts if status == 200 and isinstance(one, Rejected))


async def test_only_the_emails_of_the_request_in_doubt_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first request is answered, the second is not read, the third is sent."""
    async with fake([all_taken(POSTMARK, 2)] * 3) as server:
        service = POSTMARK.service(server.site)
        monkeypatch.setattr(type(service), "most_in_call", 2)
        genuine, calls = service.judge, list[int]()

        def judge(group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
            calls.append(len(group))
            if len(calls) == 2:
                raise KeyError("odd")
            return genuine(group, answer)

        monkeypatch.setattr(service, "judge", judge)
        async with channel_of(service) as channel:
            verdicts = await sent(channel, mails(6))

    assert kinds(verdicts) == [None, None, Fault.AMBIGUOUS, Fault.AMBIGUOUS, None, None]


@pytest.mark.parametrize(
    ("is_written", "kind"), [(False, Fault.UNRECOGNIZED), (True, Fault.AMBIGUOUS)]
)
async def test_a_fault_while_asking_is_unknown_only_if_the_request_was_begun(
    is_written: bool, kind: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake([POSTMARK.accepts]) as server:
        service = POSTMARK.service(server.site)
        step = "_answer" if is_written else "_written"

        def odd(*_: object) -> bytes:
            raise RuntimeError

        async with channel_of(service) as channel:
            with monkeypatch.context() as patched:
                patched.setattr(HttpConnection, step, odd)
                assert kinds(await sent(channel, [mail()])) == [kind]
            if kind is not Fault.AMBIGUOUS:  # the next one finds a connection
                assert kinds(await sent(channel, [mail()])) == [None]


async def test_an_account_whose_login_raises_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with fake([]) as server:
        service = POSTMARK.service(server.site)

        async def authorise(_: ProviderApi) -> Rejected | None:
            raise TypeError

        monkeypatch.setattr(type(service), "authorise", authorise)
        opened = await HttpTransport(service, HttpAccount(NetworkPolicy(allow_private=True))).open()

    assert isinstance(opened, Rejected)
    assert (opened.kind, opened.stage) == (Fault.TRANSIENT, Stage.CONNECT)


async def test_blind_copies_that_cannot_be_read_fail_their_email_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def copies_of(_: SendAttempt) -> list[SendAttempt]:
        raise ValueError

    monkeypatch.setattr(checked, "copies_of", copies_of)
    blind = mail("x@example.net", "y@example.net")
    async with fake([POSTMARK.accepts]) as server:
        service = POSTMARK.service(server.site)
        async with channel_of(service) as channel:
            verdicts = await sent(channel, [blind, mail(number=2)])

    assert kinds(verdicts)[1] is None
    assert isinstance(verdicts[0], Rejected)
    assert verdicts[0].kind is not Fault.AMBIGUOUS


async def test_whether_to_repeat_that_cannot_be_decided_is_no(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with fake([SES.accepts]) as server:
        service = SES.service(server.site)

        def renew(_: HttpResponse) -> bool:
            raise ValueError

        monkeypatch.setattr(service, "renew", renew)
        async with channel_of(service) as channel:
            assert kinds(await sent(channel, [mail()])) == [None]
    assert len(server.requests) == 1
