"""Creates a self-signed certificate for a server on this host, valid for a year."""

import datetime
import os
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from mailqueue.smtp.server.certificate_end import end_of

VALIDITY = datetime.timedelta(days=365)
RENEWED_BEFORE = datetime.timedelta(days=30)


def keep_certificate(file: Path) -> None:
    """Create a file with a certificate for localhost and its key; renew it before it expires.

    Raises:
        OSError: the file cannot be written.
    """
    try:
        ends = end_of(file)
    except (FileNotFoundError, ValueError):
        ends = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    if ends - datetime.datetime.now(datetime.UTC) > RENEWED_BEFORE:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as written:
        written.write(_made())
    draft.replace(file)


def _made() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [
        x509.DNSName("localhost"),
        x509.IPAddress(ip_address("127.0.0.1")),
        x509.IPAddress(ip_address("::1")),
    ]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + VALIDITY)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
