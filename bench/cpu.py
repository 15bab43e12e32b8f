"""Measures the CPU time and memory of a process and all its children, from /proc."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat; `seconds` includes children that have ended."""

    pid: int
    parent: int
    seconds: float


@dataclass(slots=True)
class Spent:
    """What named processes used while something ran; `others` is all the rest of the machine."""

    seconds: dict[str, float] = field(default_factory=dict)
    others_share: float = 0.0


@contextmanager
def spending(roots: Mapping[str, int]) -> Iterator[Spent]:
    """Measure the CPU seconds of process trees while the block runs; they must outlive it."""
    spent = Spent()
    before = {name: tree_seconds(pid) for name, pid in roots.items()}
    all_before, idle_before = machine_seconds()
    me_before = sum(os.times()[:4])
    yield spent
    spent.seconds = {name: tree_seconds(pid) - before[name] for name, pid in roots.items()}
    all_after, idle_after = machine_seconds()
    passed = all_after - all_before
    ours = sum(spent.seconds.values()) + sum(os.times()[:4]) - me_before
    busy = passed - (idle_after - idle_before)
    spent.others_share = max(0.0, (busy - ours) / passed) if passed else 0.0


def tree_seconds(root: int) -> float:
    """Return the CPU seconds of a process and everything below it."""
    return sum(process.seconds for process in tree(root))


def tree(root: int) -> list[Process]:
    """Return a process and everything below it."""
    children: dict[int, list[Process]] = {}
    found: list[Process] = []
    for process in _all():
        children.setdefault(process.parent, []).append(process)
        if process.pid == root:
            found.append(process)
    for process in found:  # grows while we walk it
        found.extend(children.get(process.pid, ()))
    return found


def peak_mb(root: int) -> float:
    """Return the highest memory any process below this one has held, itself included."""
    return max((_memory_mb(process.pid, "VmHWM") for process in tree(root)), default=0.0)


def held_mb(pid: int) -> float:
    """Return the memory a process holds now, MiB."""
    return _memory_mb(pid, "VmRSS")


def machine_seconds() -> tuple[float, float]:
    """Return the CPU seconds of all cores since boot, and how many of them were idle."""
    words = (PROC / "stat").read_text().splitlines()[0].split()[1:9]
    ticks = [int(word) for word in words]
    return sum(ticks) / TICKS, (ticks[3] + ticks[4]) / TICKS


def _all() -> Iterator[Process]:
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            # The name stands in brackets and may hold anything.
            words = text.rpartition(")")[2].split()
            used = sum(int(word) for word in words[11:15]) / TICKS
            yield Process(int(folder.name), int(words[1]), used)


def _memory_mb(pid: int, word: str) -> float:
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return max(
        (int(line.split()[1]) / 1024 for line in lines if line.startswith(word)), default=0.0
    )
