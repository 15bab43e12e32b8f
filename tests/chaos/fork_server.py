"""Starts processes of mailqueue quickly: loads the modules once, then forks for each process.

`python -m tests.chaos.fork_server` reads the processes to start from standard input, as JSON lines,
and reports on standard output when a child starts, stops or ends. The modules are loaded with a
crash point that no process reaches: each child takes the one of its own environment instead.
"""

import importlib
import os
import select
import signal
import sys
from typing import Any

import orjson

CRASH_POINT = "MAILQUEUE_CRASH_POINT"
UNREACHED = "never kill 1"
MODULES = (
    *("mailqueue.cli.worker.send", "mailqueue.wiring.sending", "mailqueue.process.pool"),
    *("mailqueue.process.starting.client", "mailqueue.cli.services", "mailqueue.trap.server"),
    *("rich.progress", "rich.table", "starlette.applications", "uvicorn", "uvloop"),
)


def _report(**words: object) -> None:
    os.write(1, orjson.dumps(words) + b"\n")


def _run_child(order: dict[str, Any]) -> None:
    """Run `mailqueue` with these arguments in this process; never returns."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(os.pipe()[0], 0)  # stays open while the process runs, as a parent keeps it
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ |= order["environment"]
        _arm()
        main = importlib.import_module("mailqueue.cli.main").main
        main(order["arguments"], prog_name="mailqueue")
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else int(exc.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _arm() -> None:
    """Take the crash point of this process's environment in place of UNREACHED."""
    armed = getattr(importlib.import_module("mailqueue.core.crashpoints").reach, "__self__")  # noqa: B009
    armed.__init__(os.environ.get(CRASH_POINT, UNREACHED))


def _report_ended(children: set[int]) -> None:
    """Report every child that stopped or ended."""
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            _report(stopped=pid)
        else:
            children.discard(pid)
            _report(ended=pid, code=os.waitstatus_to_exitcode(status))


def main() -> None:
    """Start processes until standard input ends; then kill those that still run."""
    os.environ[CRASH_POINT] = UNREACHED
    for name in MODULES:
        importlib.import_module(name)
    del os.environ[CRASH_POINT]
    woken, wakes = os.pipe()
    for end in (woken, wakes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: set[int] = set()
    unread = b""
    while True:
        ready, _, _ = select.select((0, woken), (), ())
        if woken in ready:
            os.read(woken, 4096)
            _report_ended(children)
        if 0 not in ready:
            continue
        more = os.read(0, 65536)
        if not more:
            break
        *orders, unread = (unread + more).split(b"\n")
        for order in orders:
            pid = os.fork()
            if pid == 0:
                _run_child(orjson.loads(order))
            children.add(pid)
            _report(started=pid)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
