"""Timeouts of an SMTP client for each step of a session."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SmtpTimeouts:
    """Timeouts in seconds; RFC 5321 section 4.5.3.2 has the recommended minima.

    `dot_s` is long: the server may have accepted the message, and a retry would send a duplicate.
    """

    connect_s: float = 20.0  # resolve and connect, all addresses together
    command_s: float = 60.0  # greeting, EHLO, TLS handshake, AUTH, MAIL, RCPT, DATA
    block_s: float = 180.0  # while the server takes no byte of the body
    dot_s: float = 600.0  # from the last byte sent to the reply
    quit_s: float = 2.0


DEFAULT_TIMEOUTS = SmtpTimeouts()
