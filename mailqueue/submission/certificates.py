"""Loads the TLS certificate of the submission server: a configured one, or a self-signed one."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from mailqueue.core.errors import ConfigError
from mailqueue.settings.submission import SubmissionSettings
from mailqueue.smtp.server.login import is_on_this_machine
from mailqueue.smtp.server.self_signed import keep_certificate
from mailqueue.telemetry.log import get_logger

FILE_NAME = "submission.pem"
POLL_SECONDS = 60.0

log = get_logger(__name__)


class Certificate:
    """A server's TLS context; a renewed certificate file is loaded while the server runs."""

    def __init__(self, file: Path, key: Path | None) -> None:
        self._file = file
        self._key = key
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._seen = self._stamps()
        self.context.load_cert_chain(file, key)

    def look(self) -> None:
        """Reload the files if they have changed; an invalid certificate is logged once."""
        try:
            stamps = self._stamps()
            if stamps == self._seen:
                return
            self._seen = stamps
            self.context.load_cert_chain(self._file, self._key)
        except OSError as exc:  # also ssl.SSLError
            log.error("certificate.unusable", file=str(self._file), error=str(exc))
        else:
            log.info("certificate.renewed", file=str(self._file))

    def _stamps(self) -> tuple[int, ...]:
        files = (self._file,) if self._key is None else (self._file, self._key)
        return tuple(file.stat().st_mtime_ns for file in files)


def certificate_of(settings: SubmissionSettings, data: Path) -> Certificate:
    """Return the configured certificate, or a self-signed one in the data folder.

    Raises:
        ConfigError: it cannot be used, or one must be configured.
    """
    file = settings.certificate
    if file is None and settings.certificate_key is not None:
        raise ConfigError(
            "MAILQUEUE_SUBMISSION_CERTIFICATE: required with MAILQUEUE_SUBMISSION_CERTIFICATE_KEY"
        )
    try:
        if file is None:
            file = data / FILE_NAME
            if settings.host != "localhost" and not is_on_this_machine(settings.host):
                raise ConfigError(
                    "MAILQUEUE_SUBMISSION_CERTIFICATE: must be set if other hosts "
                    f"can submit mail (host {settings.host})"
                )
            keep_certificate(file)
        return Certificate(file, settings.certificate_key)
    except OSError as exc:  # also ssl.SSLError
        raise ConfigError(
            f"MAILQUEUE_SUBMISSION_CERTIFICATE: {file} cannot be used: {exc.strerror or exc}"
        ) from exc


@asynccontextmanager
async def renewed(certificate: Certificate) -> AsyncIterator[None]:
    """Check for a renewed certificate periodically while the block runs."""
    task = asyncio.create_task(_look_forever(certificate), name="certificate")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _look_forever(certificate: Certificate) -> None:
    while True:
        await asyncio.sleep(POLL_SECONDS)
        certificate.look()
