"""Secrets that stand in files of their own: credentials of systemd, secrets of containers."""

from pathlib import Path

from pydantic_settings import BaseSettings

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret

MAX_BYTES = 4096
"""Most bytes of a file with a secret."""


class SecretFileVariables(BaseSettings):
    """The variables that name such files."""

    database_password_file: Path | None = None
    master_key_file: Path | None = None
    master_key_previous_file: Path | None = None


def secret_of(variable: str, path: Path | None, given: Secret | None = None) -> Secret | None:
    """Return the secret in a file, without white space around it; `given` where no file is named.

    Raises:
        ConfigError: the file cannot be read, has no text or more than one line, or the secret is
            given too.
    """
    if path is None:
        return given
    if given is not None:
        raise ConfigError(
            f"MAILQUEUE_{variable}_FILE: set either it or MAILQUEUE_{variable}, not both"
        )
    name = f"MAILQUEUE_{variable}_FILE: {path}"
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1).decode().strip()
    except OSError as exc:
        raise ConfigError(f"{name}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{name}: is not text in UTF-8") from exc
    if not text or len(text) > MAX_BYTES or not text.isprintable():
        raise ConfigError(f"{name}: must have one line of at most {MAX_BYTES} bytes")
    return Secret(text)
