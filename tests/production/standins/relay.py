"""A stand-in for smtp.example.com: port 587 with STARTTLS and a login; keeps mail in a folder."""

import ssl
import sys
import time
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword


class Keeper:
    """Keeps each message in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:  # noqa: ARG002, N802
        """Keep a message."""
        content = envelope.content
        assert isinstance(content, bytes)
        (self.folder / f"{time.monotonic_ns()}.eml").write_bytes(content)
        return "250 kept"


def main(folder: Path, certificate: str, key: str, password: str) -> None:
    """Serve until the process ends."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    def login(*given: object) -> AuthResult:
        data = given[-1]
        is_right = isinstance(data, LoginPassword) and data.password == password.encode()
        return AuthResult(success=is_right)

    Controller(
        Keeper(folder), hostname="127.0.0.1", port=587, tls_context=context,
        require_starttls=True, auth_required=True, authenticator=login,
    ).start()  # fmt: skip
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]).read_text().strip())
