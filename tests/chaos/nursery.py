"""Starts worker processes quickly: loads what mailqueue stands on once, and forks.

`python -m tests.chaos.nursery` reads what to start, a JSON object a line, and tells what becomes of
it in the same way. Nothing of mailqueue is loaded before the fork: each child reads its environment
and loads it as any process does.
"""

import importlib
import os
import select
import signal
import sys
from typing import Any

import orjson

STANDS_ON = (
    *("aiosmtplib", "click", "cryptography.hazmat.primitives.ciphers.aead", "httptools", "idna"),
    *("jinja2.sandbox", "psycopg.types.json", "psycopg_pool", "pydantic", "pydantic_settings"),
    *("rich.progress", "rich.table", "starlette.applications", "structlog", "uvicorn", "uvloop"),
)


def _tell(**words: object) -> None:
    os.write(1, orjson.dumps(words) + b"\n")


def _become(order: dict[str, Any]) -> None:
    """Be `mailqueue` with these arguments; never returns."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(os.pipe()[0], 0)  # open as long as it lives, as a parent keeps it
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ |= order["environment"]
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


def _look_after(children: set[int]) -> None:
    """Tell of every child that stopped or ended."""
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            _tell(stopped=pid)
        else:
            children.discard(pid)
            _tell(ended=pid, code=os.waitstatus_to_exitcode(status))


def main() -> None:
    """Start what is asked for until nobody asks any more; then end what still runs."""
    for name in STANDS_ON:
        importlib.import_module(name)
    woken, wakes = os.pipe()
    for end in (woken, wakes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: set[int] = set()
    asked = b""
    while True:
        ready, _, _ = select.select((0, woken), (), ())
        if woken in ready:
            os.read(woken, 4096)
            _look_after(children)
        if 0 not in ready:
            continue
        more = os.read(0, 65536)
        if not more:
            break
        *orders, asked = (asked + more).split(b"\n")
        for order in orders:
            pid = os.fork()
            if pid == 0:
                _become(orjson.loads(order))
            children.add(pid)
            _tell(started=pid)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
