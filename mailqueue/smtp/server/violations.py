"""Decides what no client of good faith sends: early commands, line ends of two kinds. Pure."""

from mailqueue.smtp.server import answer
from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ServerLimits

# RFC 2920 section 3.1, RFC 4954 section 4: nothing may come behind these before their answer.
LAST_OF_A_GROUP = frozenset({b"EHLO", b"HELO", b"DATA", b"AUTH"})
IDLE_COMMANDS = frozenset({b"NOOP", b"RSET", b"VRFY", b"HELP", b"EHLO", b"HELO"})
# A browser made to talk to us would have its request's body read as commands.
HTTP_METHODS = frozenset({b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"CONNECT", b"PATCH"})

_ALL_BUT_ENDS = bytes(octet for octet in range(256) if octet not in b"\r\n\0")


def too_early(verb: bytes, limits: ServerLimits) -> SmtpReply | None:
    """Return why nothing may stand behind this command yet, or None.

    Behind STARTTLS it never may: what somebody on the way put there in clear would be taken for
    what the client says under TLS (RFC 3207 section 6).
    """
    if verb == b"STARTTLS" or (limits.refuses_early_talk and verb in LAST_OF_A_GROUP):
        return answer.TOO_EARLY
    return None


def offers(limits: ServerLimits, most_bytes: int) -> list[str]:
    """Return what EHLO offers on any connection."""
    offered = ["PIPELINING", "8BITMIME", "SMTPUTF8", f"SIZE {most_bytes}", "ENHANCEDSTATUSCODES"]
    if limits.refuses_incomplete:
        offered.append(f"LIMITS RCPTMAX={limits.recipients}")  # RFC 9422
    return offered


def objection(raw: bytes, limits: ServerLimits) -> SmtpReply | None:
    """Return why the text of this message is not taken, or None."""
    if limits.refuses_bare_ends:
        ends = raw.translate(None, _ALL_BUT_ENDS)
        if b"\0" in ends:
            return answer.TEXT_NUL
        if len(ends) != 2 * raw.count(b"\r\n"):
            return answer.BARE_TEXT_END
    most = limits.text_line_bytes
    if most is not None and max(map(len, raw.split(b"\r\n"))) > most:
        return answer.TEXT_LINE_TOO_LONG
    return None
