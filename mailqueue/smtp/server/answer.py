"""The replies of the SMTP server: a code, an enhanced code and a text. Values only."""

from dataclasses import dataclass

CLOSING = 421  # RFC 5321 section 3.8: the server says this and closes


@dataclass(frozen=True, slots=True)
class SmtpReply:
    """One reply of the server; a reply with code 421 also closes the connection."""

    code: int
    enhanced: str
    text: str

    def line(self) -> bytes:
        """Return the bytes of the reply; its text cannot contain a line end."""
        text = " ".join(self.text.split())
        return f"{self.code} {self.enhanced} {text}\r\n".encode()


SYNTAX = SmtpReply(500, "5.5.2", "syntax error")
BARE_LINE_END = SmtpReply(500, "5.5.2", "lines must end with CR LF")
TOO_LONG = SmtpReply(500, "5.5.2", "line too long")
UNKNOWN = SmtpReply(500, "5.5.1", "unknown command")
BAD_ARGUMENT = SmtpReply(501, "5.5.4", "syntax error in the argument")
OUT_OF_ORDER = SmtpReply(503, "5.5.1", "bad sequence of commands")
NO_RECIPIENT = SmtpReply(554, "5.5.1", "no valid recipient")
BAD_PARAMETER = SmtpReply(555, "5.5.4", "parameter not supported")
TOO_MANY_RECIPIENTS = SmtpReply(452, "4.5.3", "too many recipients")
INCOMPLETE = SmtpReply(
    554, "5.5.3", "too many recipients in one transaction; the message is delivered to none of them"
)
TOO_BIG = SmtpReply(552, "5.3.4", "message too large")
BARE_TEXT_END = SmtpReply(550, "5.5.2", "bare CR or LF in the message: lines must end with CR LF")
TEXT_NUL = SmtpReply(550, "5.6.0", "the message contains a NUL")
TEXT_LINE_TOO_LONG = SmtpReply(554, "5.6.0", "a line of the message is too long")
NEEDS_TLS = SmtpReply(530, "5.7.0", "must issue a STARTTLS command first")
NEEDS_TLS_TO_LOG_IN = SmtpReply(538, "5.7.11", "encryption required to log in: STARTTLS first")
TLS_READY = SmtpReply(220, "2.0.0", "ready to start TLS")
TOO_EARLY = SmtpReply(554, "5.5.0", "commands were sent before this reply, closing")
TOO_SLOW = SmtpReply(CLOSING, "4.4.2", "too slow, closing")
NEEDS_LOGIN = SmtpReply(530, "5.7.0", "authentication required")
LOGIN_REFUSED = SmtpReply(535, "5.7.8", "authentication failed")
LOGIN_CANCELLED = SmtpReply(501, "5.7.0", "authentication cancelled")
LOGIN_UNREADABLE = SmtpReply(501, "5.5.2", "the response is not base64")
LOGIN_TOO_LONG = SmtpReply(500, "5.5.6", "the response is too long")
LOGIN_UNKNOWN = SmtpReply(504, "5.5.4", "authentication mechanism not supported")
FAILED = SmtpReply(451, "4.3.0", "temporary failure, try again later")
IDLE = SmtpReply(CLOSING, "4.4.2", "idle for too long, closing")
TOO_MANY_ERRORS = SmtpReply(CLOSING, "4.7.0", "too many errors, closing")
TOO_MANY_FROM_YOU = SmtpReply(CLOSING, "4.7.0", "too many connections from your address")
TOO_MANY_CONNECTIONS = SmtpReply(CLOSING, "4.3.2", "too many connections, try again later")
SHUTTING_DOWN = SmtpReply(CLOSING, "4.3.2", "shutting down, try again later")
NOT_HTTP = SmtpReply(CLOSING, "4.7.0", "this is a mail server, closing")
LOGGED_IN = SmtpReply(235, "2.7.0", "authenticated")
TOO_MANY_LOGINS = SmtpReply(CLOSING, "4.7.0", "too many failed logins, closing")
