"""Settings of send workers. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Limits of send workers."""

    processes: int
    in_flight: int  # emails that one process sends at the same time
    batch: int  # rows per claim
    max_send_rate: float | None = None  # recipients per second of the installation; 0: no limit
