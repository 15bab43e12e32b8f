"""Speaks LMTP, too, to clients that say LHLO: an answer for each recipient (RFC 2033)."""

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import SmtpService
from mailqueue.smtp.server.replies import ReplyQueue
from mailqueue.smtp.server.session import ServerSession

NOBODY = SmtpReply(503, "5.5.1", "no valid recipient")  # RFC 2033 section 4.2


class LmtpSession(ServerSession):
    """A session that is one of SMTP until its client says LHLO, and after EHLO or HELO."""

    def __init__(self, service: SmtpService, replies: ReplyQueue) -> None:
        super().__init__(service, replies)
        self._is_lmtp = False

    def take_line(self, line: bytes, *, is_last: bool) -> None:
        """Act on one line; what LMTP adds is little."""
        verb, _, argument = line.partition(b" ")
        match verb.upper() if self.asked is None else b"":
            case b"LHLO":
                self._is_lmtp = True
                line = b"EHLO " + argument
            case b"EHLO" | b"HELO":
                self._is_lmtp = False
            case b"DATA" if self._is_lmtp and self._sender is not None and not self._recipients:
                self._object(NOBODY)
                return
        super().take_line(line, is_last=is_last)

    def take_message(self, raw: bytes | None) -> None:
        """Hand over the message that has ended; LMTP has an answer for each recipient."""
        self._replies.copies = len(self._recipients) if self._is_lmtp else 1
        try:
            super().take_message(raw)
        finally:
            self._replies.copies = 1


def session_of(service: SmtpService, replies: ReplyQueue) -> ServerSession:
    """Return the session of a client of this server."""
    return (LmtpSession if service.takes_lmtp else ServerSession)(service, replies)
