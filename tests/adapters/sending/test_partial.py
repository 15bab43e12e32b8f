"""SMTP2GO takes some recipients of a message and refuses others."""

import pytest

from mailqueue.core.verdict import Accepted, Fault
from tests.adapters.sending.fake import fake, says
from tests.adapters.sending.mails import mail, verdict_of
from tests.adapters.sending.providers import SMTP2GO

pytestmark = [pytest.mark.anyio]
TO = ("ann@example.org", "bob@example.org", "cy@example.org")


async def judged(failed: int, *failures: str) -> Accepted:
    data = {
        "succeeded": len(TO) - failed,
        "failed": failed,
        "failures": list(failures),
        "email_id": "1r",
    }
    async with fake([says(200, {"request_id": "r", "data": data})]) as server:
        verdict = await verdict_of(SMTP2GO.service(server.site), mail(to=TO))
    assert isinstance(verdict, Accepted)
    assert verdict.provider_message_id == "1r"
    return verdict


async def test_the_named_are_refused_and_the_others_sent() -> None:
    verdict = await judged(1, "bob@example.org: mailbox does not exist")

    (refused,) = verdict.refused
    assert refused.address == "bob@example.org"
    assert refused.why.kind is Fault.PERMANENT_RECIPIENT
    assert "not named" not in verdict.reply


@pytest.mark.parametrize("failures", [(), ("bad address",)], ids=["no reason", "a reason"])
async def test_those_that_are_not_named_count_as_sent_and_the_log_says_how_many(
    failures: tuple[str, ...],
) -> None:
    """A second attempt would reach the others twice."""
    verdict = await judged(1, *failures)

    assert verdict.refused == ()
    assert verdict.reply == f"1 of 3 refused, not named: {''.join(failures) or '-'}"


async def test_some_named_and_some_not() -> None:
    verdict = await judged(2, "bob@example.org: mailbox does not exist")

    assert [one.address for one in verdict.refused] == ["bob@example.org"]
    assert verdict.reply.startswith("1 of 3 refused, not named: ")
