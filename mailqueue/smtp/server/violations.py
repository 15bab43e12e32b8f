"""Detects protocol violations: commands sent too early, bare line ends. Pure."""

from mailqueue.core.messages.lines import LineFault, bad_end, has_longer_line
from mailqueue.smtp.server import answer
from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ServerLimits

# RFC 2920 section 3.1, RFC 4954 section 4: commands that must wait for their reply before others.
MUST_END_GROUP = frozenset({b"EHLO", b"HELO", b"DATA", b"AUTH"})
IDLE_COMMANDS = frozenset({b"NOOP", b"RSET", b"VRFY", b"HELP", b"EHLO", b"HELO"})
# Commands of an HTTP request that a browser was made to send to this port.
HTTP_METHODS = frozenset({b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"CONNECT", b"PATCH"})


def too_early(verb: bytes, limits: ServerLimits) -> SmtpReply | None:
    """Return the refusal of commands sent after this one before its reply, or None.

    After STARTTLS this is always a violation: commands injected in plain text would be executed as
    if received under TLS (RFC 3207 section 6).
    """
    if verb == b"STARTTLS" or (limits.refuses_early_commands and verb in MUST_END_GROUP):
        return answer.TOO_EARLY
    return None


def offers(limits: ServerLimits, max_bytes: int) -> list[str]:
    """Return the EHLO keywords offered on every connection."""
    offered = ["PIPELINING", "8BITMIME", "SMTPUTF8", f"SIZE {max_bytes}", "ENHANCEDSTATUSCODES"]
    if limits.refuses_incomplete:
        offered.append(f"LIMITS RCPTMAX={limits.recipients}")  # RFC 9422
    return offered


def objection(raw: bytes, limits: ServerLimits) -> SmtpReply | None:
    """Return why the text of this message is refused, or None."""
    if limits.refuses_bare_ends:
        match bad_end(raw):
            case LineFault.NUL:
                return answer.TEXT_NUL
            case LineFault.BARE_END:
                return answer.BARE_TEXT_END
    most = limits.text_line_bytes
    if most is not None and has_longer_line(raw, most):
        return answer.TEXT_LINE_TOO_LONG
    return None
