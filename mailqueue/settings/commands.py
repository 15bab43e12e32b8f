"""Secrets that a program prints: of a KMS, a vault, or a cloud's tokens for databases."""

import os
import select
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import IO

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret

SECONDS = 30.0
"""Time that a program has for its output and its end."""
MAX_BYTES = 16_384
"""Most bytes that it may print; tokens of clouds have up to about 4,000."""


@dataclass(frozen=True, slots=True)
class SecretCommand:
    """A program that prints a secret, and the variable that names it."""

    variable: str  # without MAILQUEUE_
    argv: tuple[str, ...] = field(repr=False)

    def run(
        self, environment: Mapping[str, str] | None = None, *, seconds: float = SECONDS
    ) -> Secret:
        """Run the program without a shell, and return what it prints without space around it.

        It gets this process's environment without mailqueue's variables, plus `environment`; no
        input, and what it writes to its standard error is dropped. Blocks until it ends.

        Raises:
            ConfigError: it cannot be started, fails, takes longer than `seconds`, or prints not one
                line of at most MAX_BYTES; the message has the variable and never the output.
        """
        name = f"MAILQUEUE_{self.variable}"
        ends_at = monotonic() + seconds
        try:
            process = subprocess.Popen(  # noqa: S603
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_kept(os.environ) | dict(environment or {}),
                start_new_session=True,
            )
        except OSError as exc:
            raise ConfigError(f"{name}: cannot be started: {exc.strerror}") from None
        with process:
            try:
                output = _read(process.stdout, ends_at)
                if len(output) > MAX_BYTES:
                    _kill(process)  # it may wait for its output to be read
                code = process.wait(max(0.0, ends_at - monotonic()))
            except BaseException as exc:
                _kill(process)
                if isinstance(exc, TimeoutError | subprocess.TimeoutExpired):
                    raise ConfigError(f"{name}: has not ended after {seconds:g} seconds") from None
                raise
        if len(output) > MAX_BYTES:
            raise _unusable(name)
        if code != 0:
            how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
            raise ConfigError(f"{name}: {how}; run it by hand to see why")
        text = output.decode(errors="replace").strip()
        if not text or not text.isprintable() or "\ufffd" in text:
            raise _unusable(name)
        return Secret(text)


def _unusable(name: str) -> ConfigError:
    return ConfigError(f"{name}: must print one line of at most {MAX_BYTES} bytes")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program, not yet waited for, with what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _kept(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith("MAILQUEUE_") and name not in ("DATABASE_URL", "PGPASSWORD")
    }


def _read(output: IO[bytes] | None, ends_at: float) -> bytes:
    """Return what the program prints until it closes its output, up to a byte beyond MAX_BYTES."""
    text = b""
    if output is None:
        return text
    waiting = select.poll()
    waiting.register(output.fileno(), select.POLLIN)
    while len(text) <= MAX_BYTES:
        if not waiting.poll(max(0.0, ends_at - monotonic()) * 1000):
            raise TimeoutError
        more = os.read(output.fileno(), MAX_BYTES + 1 - len(text))
        if not more:
            break
        text += more
    return text
