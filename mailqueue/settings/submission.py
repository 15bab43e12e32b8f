"""Where programs hand mail in by SMTP. Values only."""

from dataclasses import dataclass
from pathlib import Path

DEFAULT_PORT = 2587


@dataclass(frozen=True, slots=True)
class SubmissionSettings:
    """Where SMTP is served to programs that send; port 0 picks a free one.

    `port` None is the usual one, which `mailqueue up` does without where it is in use. Without a
    certificate one is made, for this machine alone.
    """

    is_on: bool = True
    host: str = "127.0.0.1"
    port: int | None = None
    tls_port: int | None = None  # TLS from the first byte; None: not served
    certificate: Path | None = None
    certificate_key: Path | None = None  # None: it stands in the file of the certificate
    name: str | None = None  # None: the machine's
