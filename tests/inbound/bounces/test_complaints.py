"""Complaints count if they are proven, also with redacted addresses."""

from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.events.sent_mail import left
from tests.inbound.bounces.bounce_mail import BounceReceiver, report

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_yet")]


async def sent(conn: Conn, address: str = "ann@example.com", **columns: Any) -> UUID:
    return await left(conn, recipient_email=address, **columns)


def complaint(way_back: str, kind: str = "abuse", rcpt: str = "ann@example.com") -> bytes:
    fields = (
        f"Feedback-Type: {kind}\nUser-Agent: ExampleFBL/1.0\nVersion: 0.1\n"
        f"Original-Mail-From: <{way_back}>\nOriginal-Rcpt-To: <{rcpt}>"
    )
    return report(fields, report_type="feedback-report", to="fbl@bounces.example.org")


@pytest.mark.parametrize("rcpt", ["ann@example.com", "0a1b2c3d@redacted.invalid", ""])
async def test_a_complaint_is_known_by_its_return_path_though_addresses_are_taken_out(
    office: BounceReceiver, rcpt: str
) -> None:
    mail = await sent(office.conn)

    await office.take(complaint(await office.way_back(mail), rcpt=rcpt), sender="fbl@example.com")

    assert await office.events() == [("complaint", "ann@example.com", None, "arf")]
    assert (
        await make.scalar(office.conn, "SELECT reason FROM mailqueue.suppressions") == "complaint"
    )


@pytest.mark.parametrize("kind", ["not-spam", "auth-failure", "dmarc", ""])
async def test_feedback_that_is_no_complaint_changes_nothing(
    office: BounceReceiver, kind: str
) -> None:
    mail = await sent(office.conn)

    await office.take(complaint(await office.way_back(mail), kind), sender="fbl@example.com")

    assert (await office.events(), await office.suppressed()) == ([], [])


async def test_a_forged_complaint_changes_nothing(office: BounceReceiver) -> None:
    await sent(office.conn)

    await office.take(complaint("bounces+x@bounces.example.org"), sender="fbl@example.com")

    assert (await office.events(), await office.suppressed()) == ([], [])
