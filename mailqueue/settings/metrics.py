"""Settings of the metrics port. Values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Address at which a process shows its metrics; a port of None: it does not."""

    host: str = "127.0.0.1"
    port: int | None = None
