"""LMTP (RFC 2033) for clients that send LHLO: one reply for each recipient."""

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import SmtpService
from mailqueue.smtp.server.replies import ReplyQueue
from mailqueue.smtp.server.session import ServerSession

NO_RECIPIENT = SmtpReply(503, "5.5.1", "no valid recipient")  # RFC 2033 section 4.2


class LmtpSession(ServerSession):
    """An SMTP session that becomes LMTP when its client sends LHLO."""

    def __init__(self, service: SmtpService, replies: ReplyQueue) -> None:
        super().__init__(service, replies)
        self._is_lmtp = False

    def take_line(self, line: bytes, *, is_last: bool) -> None:
        """Execute one command line."""
        verb, _, argument = line.partition(b" ")
        match verb.upper() if self.challenge is None else b"":
            case b"LHLO":
                self._is_lmtp = True
                line = b"EHLO " + argument
            case b"EHLO" | b"HELO":
                self._is_lmtp = False
            case b"DATA" if self._is_lmtp and self._sender is not None and not self._recipients:
                self._object(NO_RECIPIENT)
                return
        super().take_line(line, is_last=is_last)

    def take_message(self, raw: bytes | None) -> None:
        """Hand over a received message; LMTP has a reply for each recipient."""
        self._replies.copies = len(self._recipients) if self._is_lmtp else 1
        try:
            super().take_message(raw)
        finally:
            self._replies.copies = 1


def session_of(service: SmtpService, replies: ReplyQueue) -> ServerSession:
    """Return a session for a client of this server."""
    return (LmtpSession if service.takes_lmtp else ServerSession)(service, replies)
