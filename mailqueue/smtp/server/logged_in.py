"""Whether the client of one connection has logged in, and as whom."""

from collections.abc import Callable

from mailqueue.smtp.server import answer as server_answer
from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import LoggedIn, LoginAttempt, SmtpService
from mailqueue.smtp.server.login import NameAndPassword


class SessionLogin:
    """The login of one connection: none, or a name and a client."""

    def __init__(self, service: SmtpService) -> None:
        self._service = service
        self._failed = 0
        self._leave: Callable[[], None] | None = None
        self._is_over = False
        self.name = ""  # "": not logged in
        self.client: object = None
        self.max_bytes = service.limits.message_bytes

    def forget(self) -> None:
        """Log out, and give back what the login holds."""
        leave, self._leave = self._leave, None
        self.name, self.client = "", None
        self.max_bytes = self._service.limits.message_bytes
        if leave is not None:
            leave()

    def end(self) -> None:
        """Log out for good: the connection is closed."""
        self._is_over = True
        self.forget()

    async def attempt(self, credentials: NameAndPassword, address: str) -> SmtpReply:
        """Check a user name and password; return the reply."""
        authenticate = self._service.authenticate
        assert authenticate is not None  # without it AUTH is not a known command
        found = await authenticate(LoginAttempt(credentials.name, credentials.password, address))
        limits = self._service.limits
        if isinstance(found, LoggedIn):
            self.name = credentials.name or "-"
            self.client, self._leave = found.client, found.leave
            self.max_bytes = min(limits.message_bytes, found.message_bytes or limits.message_bytes)
            if self._is_over:  # what was awaited did not heed that it was cancelled
                self.forget()
            return server_answer.LOGGED_IN
        self._failed += 1
        return server_answer.TOO_MANY_LOGINS if self._failed >= limits.logins else found
