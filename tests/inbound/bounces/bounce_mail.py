"""Bounce mail as servers write it, and a listener that receives it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.inbound.handler import InboundHandler, InboundTools
from mailqueue.inbound.model import NewRequest
from mailqueue.inbound.store import keep
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.returnpath import return_path
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.queue.working import work_once

MASTER = MasterKey(bytes(range(32)))
DOMAIN = "bounces.example.org"


def report(
    *groups: str,
    to: str = "shop@example.org",
    message_id: str = "<nothing@example.org>",
    text: str = "Delivery failed.",
    kind: str = "message/delivery-status",
    report_type: str = "delivery-status",
    head: str = "",
    own_id: str = "<dsn-1@mx.example.com>",
) -> bytes:
    """Return a multipart/report; each group is a group of fields, after those of the message."""
    status = "\n\n".join(("Reporting-MTA: dns; mx.example.com", *groups))
    if report_type == "feedback-report":
        status, kind = groups[0], "message/feedback-report"
    return f"""Return-Path: <>
From: MAILER-DAEMON@mx.example.com
To: {to}
Subject: Undelivered Mail Returned to Sender
Message-ID: {own_id}
Auto-Submitted: auto-replied
{head}MIME-Version: 1.0
Content-Type: multipart/report; report-type={report_type}; boundary="b1"

--b1
Content-Type: text/plain; charset=utf-8

{text}

--b1
Content-Type: {kind}

{status}

--b1
Content-Type: text/rfc822-headers

From: shop@example.org
To: ann@example.com
Message-ID: {message_id}
Subject: Hi

--b1--
""".encode()


def failed(
    recipient: str, status: str = "5.1.1", words: str = "550 5.1.1 user unknown", more: str = ""
) -> str:
    return (
        f"{more}Final-Recipient: rfc822; {recipient}\nAction: failed\nStatus: {status}\n"
        f"Remote-MTA: dns; mx.example.com\nDiagnostic-Code: smtp; {words}"
    )


@dataclass(slots=True)
class BounceReceiver:
    """Receives bounce mail and processes it at once."""

    conn: Conn
    database: DatabaseSettings
    keyring: Keyring

    async def way_back(
        self, mail: UUID, *, recipient: int = 0, days_ago: int = 0, project: str = "default"
    ) -> str:
        """Return the return path with which a mail was sent."""
        seals = await self.keyring.of(self.conn, await make.project_named(self.conn, project))
        at = datetime.now(UTC) - timedelta(days=days_ago)
        local = return_path(seals, email_id=mail, recipient=recipient, now=at)
        return f"{local}@{DOMAIN}"

    async def take(
        self,
        raw: bytes,
        *,
        recipient: str = "",
        sender: str = "",
        account: int | None = None,
        content_type: str = "message/rfc822",
    ) -> dict[str, Any]:
        """Process a message; return the result."""
        owner = None
        if account is not None:
            owner = await make.scalar(
                self.conn, "SELECT project_id FROM mailqueue.sender_accounts WHERE id = %s", account
            )
        query = {"sender": sender} | ({"recipient": recipient} if recipient else {})
        kept = NewRequest(
            "smtp",
            raw,
            project_id=owner,
            sender_account_id=account,
            headers={"content-type": content_type},
            query=query,
        )
        assert await keep(self.conn, [kept]) == 1
        await self.work()
        [(status, outcome)] = await make.rows(
            self.conn,
            "SELECT status, outcome FROM mailqueue.inbound_events ORDER BY id DESC LIMIT 1",
        )
        assert status == "processed", (status, outcome)
        found: dict[str, Any] = outcome
        return found

    async def work(self) -> None:
        async def never(_url: str) -> bytes | None:
            raise AssertionError

        tools = InboundTools({}, never, self.keyring)
        await work_once(self.database, "inbound", InboundHandler(self.database, tools))

    async def events(self) -> list[tuple[str, str | None, str | None, str]]:
        """Return type, recipient, code and source of the recorded events, in order."""
        found = await make.rows(
            self.conn,
            "SELECT type, recipient_email, code, source FROM mailqueue.email_events"
            " ORDER BY occurred_at, recipient_email",
        )
        return [(row[0], row[1], row[2], row[3]) for row in found]

    async def suppressed(self) -> Sequence[str]:
        found = await make.rows(
            self.conn, "SELECT address FROM mailqueue.suppressions ORDER BY address"
        )
        return [row[0] for row in found]
