"""How long we wait for an SMTP server at each point."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SmtpTimeouts:
    """Waits in seconds; RFC 5321 section 4.5.3.2 has the minima for servers far away.

    `dot_s` is long on purpose: the server may have accepted, and giving up early makes duplicates.
    """

    connect_s: float = 20.0  # resolve and connect, all addresses together
    command_s: float = 60.0  # greeting, EHLO, TLS handshake, AUTH, MAIL, RCPT, DATA
    block_s: float = 180.0  # without the server taking any byte of the body
    dot_s: float = 600.0  # from the last byte sent to the verdict
    quit_s: float = 2.0


DEFAULT_TIMEOUTS = SmtpTimeouts()
