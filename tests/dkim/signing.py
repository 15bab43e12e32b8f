"""Signing keys, a name server with their records, and independent verifiers."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import dkim

from mailqueue.dkim.keys import (
    Algorithm,
    SigningKey,
    load_private_key,
    new_private_key,
    public_value,
)
from mailqueue.dkim.record import record_name, record_text
from mailqueue.dkim.signer import DomainSigner

DOMAIN = "example.com"
AT = 1767323045
BOTH = (Algorithm.RSA, Algorithm.ED25519)
MESSAGE = (
    b"From: Shop <shop@example.com>\r\nTo: Ann <ann@example.org>\r\nSubject: Your order\r\n"
    b"Date: Fri, 20 Nov 2026 12:00:00 +0000\r\nMessage-ID: <1@example.com>\r\n"
    b"List-Unsubscribe: <https://example.com/u/1>\r\n"
    b"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
    b"MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nHello Ann\r\n"
)


@cache
def private(algorithm: Algorithm) -> bytes:
    """Create one key of each kind for all tests: an RSA key takes long."""
    return new_private_key(algorithm)


def key(algorithm: Algorithm) -> SigningKey:
    return SigningKey(DOMAIN, algorithm.key_type, algorithm, load_private_key(private(algorithm)))


def signer(*algorithms: Algorithm) -> DomainSigner:
    return DomainSigner([key(algorithm) for algorithm in algorithms or BOTH])


def signed(message: bytes, *algorithms: Algorithm) -> bytes:
    return signer(*algorithms).sign(message, AT) + message


def records() -> dict[str, str]:
    return {
        record_name(each.key_type, DOMAIN): record_text(each, public_value(private(each)))
        for each in BOTH
    }


def dns(name: bytes, timeout: int = 5) -> bytes:
    """Return the DNS answer in the format of dkimpy."""
    return records()[name.decode().rstrip(".")].encode()


def verdicts(message: bytes, ask: Callable[..., bytes] = dns) -> list[bool]:
    """Return dkimpy's verdict on each signature."""
    count = message.partition(b"\r\n\r\n")[0].count(b"DKIM-Signature:")
    judge = dkim.DKIM(message)
    found: list[bool] = []
    for place in range(count):
        try:
            found.append(bool(judge.verify(idx=place, dnsfunc=ask)))
        except dkim.DKIMException:
            found.append(False)
    return found


def lacks_opendkim() -> str | None:
    """Return why OpenDKIM is not available; None if it is."""
    return None if shutil.which("opendkim") else "no opendkim here"


def opendkim_says(
    folder: Path, messages: Sequence[bytes], published: Mapping[str, str] | None = None
) -> list[str]:
    """Return OpenDKIM's output for each message; it reads the keys from a file."""
    keys = folder / "keys"
    keys.write_text("".join(f"{name} {text}\n" for name, text in (published or records()).items()))
    settings = folder / "opendkim.conf"
    settings.write_text(f"Mode v\nTestPublicKeys {keys}\nSyslog no\n")
    paths = [folder / f"{place}.eml" for place in range(len(messages))]
    for path, message in zip(paths, messages, strict=True):
        path.write_bytes(message)
    command = ["opendkim", "-x", str(settings), "-t", ",".join(map(str, paths))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines() + done.stderr.splitlines()
