"""Hands over received messages, and refuses those whose text violates the protocol."""

import asyncio

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ReceivedEnvelope, SmtpService
from mailqueue.smtp.server.violations import objection

LARGE_BYTES = 1024 * 1024
"""Bytes of a message above which its text is checked in a thread; this many take about 5 ms."""


async def accept(service: SmtpService, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
    """Return the reply to a message; None closes the connection without one."""
    if len(raw) > LARGE_BYTES:
        refusal = await asyncio.to_thread(objection, raw, service.limits)
    else:
        refusal = objection(raw, service.limits)
    return refusal or await service.handler.accept(envelope, raw)
