"""What our SMTP server says: a code, an enhanced code and a sentence. Values only."""

from dataclasses import dataclass

CLOSING = 421  # RFC 5321 section 3.8: the server says this and closes


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the server; one with code 421 also ends the conversation."""

    code: int
    enhanced: str
    text: str

    def line(self) -> bytes:
        """Return the bytes for the wire; nothing in the text can begin another line."""
        text = " ".join(self.text.split())
        return f"{self.code} {self.enhanced} {text}\r\n".encode()


SYNTAX = Answer(500, "5.5.2", "syntax error")
BARE_LINE_END = Answer(500, "5.5.2", "every line ends in CR LF")
TOO_LONG = Answer(500, "5.5.2", "line too long")
UNKNOWN = Answer(500, "5.5.1", "unknown command")
BAD_ARGUMENT = Answer(501, "5.5.4", "syntax error in the argument")
OUT_OF_ORDER = Answer(503, "5.5.1", "not now")
NO_RECIPIENT = Answer(554, "5.5.1", "no valid recipient")
BAD_PARAMETER = Answer(555, "5.5.4", "parameter not known here")
TOO_MANY_RECIPIENTS = Answer(452, "4.5.3", "too many recipients")
INCOMPLETE = Answer(554, "5.5.3", "too many recipients in one transaction, nobody gets the message")
TOO_BIG = Answer(552, "5.3.4", "message too big")
BARE_TEXT_END = Answer(550, "5.5.2", "a CR or LF alone in the message: lines end in CR LF")
TEXT_NUL = Answer(550, "5.6.0", "the message has a NUL")
TEXT_LINE_TOO_LONG = Answer(554, "5.6.0", "a line of the message is too long")
NEEDS_TLS = Answer(530, "5.7.0", "STARTTLS has to come first")
NEEDS_TLS_TO_LOG_IN = Answer(538, "5.7.11", "encryption is needed to log in: STARTTLS first")
TLS_READY = Answer(220, "2.0.0", "ready to start TLS")
TOO_EARLY = Answer(554, "5.5.0", "more was sent than may be before this answer, closing")
TOO_SLOW = Answer(CLOSING, "4.4.2", "too slow, closing")
NEEDS_LOGIN = Answer(530, "5.7.0", "authentication required")
LOGIN_REFUSED = Answer(535, "5.7.8", "authentication failed")
LOGIN_CANCELLED = Answer(501, "5.7.0", "authentication cancelled")
LOGIN_UNREADABLE = Answer(501, "5.5.2", "the response is no base64")
LOGIN_TOO_LONG = Answer(500, "5.5.6", "the response is too long")
LOGIN_UNKNOWN = Answer(504, "5.5.4", "mechanism not known here")
FAILED = Answer(451, "4.3.0", "could not be taken now, try again later")
IDLE = Answer(CLOSING, "4.4.2", "idle for too long, closing")
TOO_MANY_ERRORS = Answer(CLOSING, "4.7.0", "too many errors, closing")
TOO_MANY_FROM_YOU = Answer(CLOSING, "4.7.0", "too many connections from your address")
TOO_MANY_CONNECTIONS = Answer(CLOSING, "4.3.2", "too many connections, try again later")
SHUTTING_DOWN = Answer(CLOSING, "4.3.2", "shutting down, try again later")
NOT_HTTP = Answer(CLOSING, "4.7.0", "this is a mail server, closing")
LOGGED_IN = Answer(235, "2.7.0", "authenticated")
TOO_MANY_LOGINS = Answer(CLOSING, "4.7.0", "too many failed logins, closing")
