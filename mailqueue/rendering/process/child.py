"""The compile process: compiles, previews and compares templates, with limits on each job."""

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, BinaryIO

import orjson

from mailqueue.rendering.comparison import unified
from mailqueue.rendering.compiled import TemplateSource
from mailqueue.rendering.dialect import as_jinja
from mailqueue.rendering.drafting import draft
from mailqueue.rendering.faults import Exceeded, TemplateFault
from mailqueue.rendering.preview import preview
from mailqueue.rendering.process.frames import LENGTH_BYTES
from mailqueue.rendering.styles import inlined

CPU_SECONDS = 2
MEMORY_BYTES = 512 * 1024 * 1024


def _draft(request: Mapping[str, Any]) -> Mapping[str, Any]:
    made = draft(
        request["subject"],
        html=request["html"],
        text=request["text"],
        parts=request["parts"],
        schema=request["schema"],
    )
    return {"parts": made.parts, "needs": made.needs}


def _preview(request: Mapping[str, Any]) -> Mapping[str, Any]:
    source = TemplateSource(
        request["subject"], request["html"], request["text"], request["parts"], request["schema"]
    )
    made = preview(source, request["variables"], category=request["category"])
    return asdict(made)


def _inline(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"html": inlined(as_jinja(request["html"], "html"))}


def _diff(request: Mapping[str, Any]) -> Mapping[str, Any]:
    old, new = request["names"]
    return {
        "diff": "".join(
            unified(was, becomes, old=f"{old}/{kind}", new=f"{new}/{kind}")
            for kind, was, becomes in request["texts"]
        )
    }


_JOBS: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "diff": _diff,
    "draft": _draft,
    "preview": _preview,
    "inline": _inline,
}


def main() -> None:
    """Process jobs until the input is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    for number in (signal.SIGUSR1, signal.SIGUSR2):  # for the log, sent to a whole service
        signal.signal(number, signal.SIG_IGN)
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    while (job := _read(incoming)) is not None:
        _bound_time()
        answer = orjson.dumps(_answer(orjson.loads(job)))
        outgoing.write(len(answer).to_bytes(LENGTH_BYTES) + answer)
        outgoing.flush()


def _read(incoming: BinaryIO) -> bytes | None:
    head = incoming.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    return incoming.read(int.from_bytes(head))


def _bound_time() -> None:
    """Set the CPU time limit of the next job; exceeding it kills the process."""
    used = os.times()
    limit = int(used.user + used.system) + 1 + CPU_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return {"found": _JOBS[request["job"]](request)}
    except TemplateFault as exc:
        return _fault(exc.why, exc.part, exc.line, is_excess=isinstance(exc, Exceeded))
    except MemoryError:
        return _fault("it takes more memory than a template may", "", None, is_excess=True)


def _fault(why: str, part: str, line: int | None, *, is_excess: bool) -> Mapping[str, Any]:
    plain = why.encode("utf-8", "replace").decode()
    return {"fault": {"why": plain, "part": part, "line": line, "is_excess": is_excess}}


if __name__ == "__main__":
    main()
