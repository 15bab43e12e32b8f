"""Processes of this installation, and what a machine can do."""

from collections.abc import Sequence
from dataclasses import dataclass

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class Accepting(Value):
    """Measured rates of accepting mail."""

    round_trip_ms: float
    single_ms: float
    """Time for one mail in a commit of its own."""
    batch_per_second: float


@dataclass(frozen=True, slots=True)
class Sending(Value):
    """Measured rate of one worker process; `cpu_share` is its CPU use, 0 to 1."""

    mails: int
    per_second: float
    cpu_us: float
    cpu_share: float


@dataclass(frozen=True, slots=True)
class Running(Value):
    """Where everything is, as URLs; `trap` and `trap_smtp` are None when the trap is off.

    `api_key` is None where the installation gives out no test keys, `submission` where no mail is
    taken by SMTP. `console_link` sets the password of the first user of the console, and is None
    once it was used. `public` is where links in mail and webhooks of providers are served.
    `metrics` is None where no port is set for them.
    """

    ready: bool
    api: str
    database: str
    trap_smtp: str | None
    trap: str | None
    data: str
    api_key: str | None
    submission: str | None = None
    public: str | None = None
    console: str | None = None
    console_link: str | None = None
    metrics: str | None = None


@dataclass(frozen=True, slots=True)
class Benchmark(Value):
    """What this machine accepts and sends."""

    accepting: Accepting
    sending: Sending
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class SubmissionListener(Value):
    """Where emails are accepted by SMTP."""

    host: str
    port: int
    tls_port: int | None
    ready: bool = True


@dataclass(frozen=True, slots=True)
class BounceListener(Value):
    """Where bounces are accepted by SMTP and LMTP."""

    host: str
    port: int
    ready: bool = True
