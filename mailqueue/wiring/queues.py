"""The handler of each queue of the kernel, with the adapters it needs."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from mailqueue.core.queues.registry import queue_named
from mailqueue.queue.handler import Handler
from mailqueue.queue.process import Kind
from mailqueue.settings.environment import Settings


def kinds_of(
    settings: Settings, names: Sequence[str], *, in_flight: int | None = None
) -> list[Kind]:
    """Return the queues of these names with what makes their handlers.

    `in_flight` rows of each are handled at the same time; None: as the queue says.
    """

    def kind(name: str) -> Kind:
        spec = queue_named(name)
        module, _, function = spec.handler.partition(":")
        build: Callable[[Settings], Handler[Any, Any]]
        build = getattr(importlib.import_module(module), function)
        if in_flight is not None:
            spec = replace(spec, concurrency=in_flight)
        return Kind(spec, lambda: build(settings))

    return [kind(name) for name in names]
