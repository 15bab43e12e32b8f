"""Mail submitted by smtplib for several people, sent through providers whose APIs take fields."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import Fake, FakeReply, Request, fake, says
from tests.adapters.sending.providers import POSTMARK, RESEND, SENDGRID, SMTP2GO
from tests.adapters.sending.test_worker import account, settings_of, worker
from tests.concurrency.running import until
from tests.submission.programs import RunningSubmission, beside, message

pytestmark = pytest.mark.anyio
PEOPLE = ("ann@example.com", "bob@example.net")
SHOWN: dict[str, list[tuple[str, ...]]] = {
    "Ann@Example.com, BOB@Example.net": [PEOPLE],
    "The list <news@lists.example.com>": [(one,) for one in PEOPLE],
    "undisclosed-recipients:;": [(one,) for one in PEOPLE],
}
"""The people that each mail at the provider names, by the header To of the one submitted."""
OF_ACCOUNT = (
    " FROM mailqueue.email_history AS h JOIN mailqueue.sender_accounts AS a ON a.id = h.assigned_to"
    " WHERE a.name = %s"
)
FINISHED = "SELECT count(*)" + OF_ACCOUNT
STATUSES = "SELECT h.status, count(*)" + OF_ACCOUNT + " GROUP BY h.status"


def answering(provider: DocumentedProvider) -> Callable[[Request], FakeReply]:
    """Return a script that accepts a request with any number of mails."""

    def answer(request: Request) -> FakeReply:
        count = len(request.json) if isinstance(request.json, list) else 0
        if not count:
            return provider.accepts
        if provider is RESEND:
            return says(200, {"data": [{"id": f"id{number}"} for number in range(count)]})
        each = {"ErrorCode": 0, "Message": "OK"}
        return says(200, [{"MessageID": f"id{number}", **each} for number in range(count)])

    return answer


def named_in(server: Fake) -> list[tuple[str, ...]]:
    """Return the people that each mail which a provider received names, in order."""
    mails = [
        one
        for request in server.requests
        for one in (request.json if isinstance(request.json, list) else [request.json])
    ]
    return sorted(tuple(one for one in PEOPLE if one in str(mail)) for mail in mails)


@pytest.mark.parametrize("provider", [SENDGRID, POSTMARK, RESEND, SMTP2GO])
async def test_each_recipient_is_sent_to_whatever_the_header_to_says(
    smtp: RunningSubmission,
    database: Conn,
    module_db: str,
    tmp_path: Path,
    provider: DocumentedProvider,
) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(fake([answering(provider)]))
        await account(database, provider.name, server)

        def send() -> None:
            with smtp.client() as client:
                for to in SHOWN:
                    mail = message(To=to, X_Mailqueue_Sender=provider.name)
                    assert client.send_message(mail, "a@example.com", PEOPLE) == {}

        await beside(send)
        async with worker(settings_of(DatabaseSettings(Secret(module_db)), tmp_path)):

            async def is_finished() -> bool:
                count = await make.scalar(database, FINISHED, provider.name)
                return bool(count == len(SHOWN))

            await until(is_finished)

    assert await make.rows(database, STATUSES, provider.name) == [("sent", len(SHOWN))]
    assert named_in(server) == sorted(one for people in SHOWN.values() for one in people)
