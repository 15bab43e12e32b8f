"""Settings of the SMTP submission server. Values only."""

from dataclasses import dataclass
from pathlib import Path

DEFAULT_PORT = 2587


@dataclass(frozen=True, slots=True)
class SubmissionSettings:
    """Host, ports and certificate of SMTP submission; port 0 is any free port.

    `port` None is the default port, which `mailqueue up` skips if it is in use. Without a
    certificate a self-signed one is created, for this host only.
    """

    is_on: bool = True
    host: str = "127.0.0.1"
    port: int | None = None
    tls_port: int | None = None  # implicit TLS; None: not served
    certificate: Path | None = None
    certificate_key: Path | None = None  # None: in the certificate's file
    name: str | None = None  # None: the host's name
    project_connections: int = 200  # logged in, of one project, in a process
