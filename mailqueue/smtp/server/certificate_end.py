"""When the certificate of a server ends."""

from datetime import datetime
from pathlib import Path

from cryptography import x509


def end_of(file: Path) -> datetime:
    """Return when the first certificate of a file in PEM ends.

    Raises:
        OSError: the file cannot be read.
        ValueError: it has no certificate.
    """
    return x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc
