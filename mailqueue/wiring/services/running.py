"""Runs a listener of SERVICES by the function that its row names."""

import asyncio
import importlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from mailqueue.contract.value import Value
from mailqueue.core.services.model import InUp, Service
from mailqueue.db.pool import Pool
from mailqueue.settings.environment import Settings


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """What a listener runs with.

    `stop` is set when the process is told to stop, or by a listener whose work has ended early.
    `report` prints a line for people. A listener beside the other parts of `mailqueue up` runs
    only where the settings ask for it.
    """

    settings: Settings
    pool: Pool
    stop: asyncio.Event
    report: Callable[[str], None]
    is_in_up: bool = False


@dataclass(frozen=True, slots=True)
class ListeningService:
    """A listener that answers: its addresses as lines for people and as a JSON document.

    `url` is the first of its addresses. `is_running` returns False once its work has ended early.
    """

    lines: tuple[str, ...] = ()
    document: Value | None = None
    url: str | None = None
    is_running: Callable[[], bool] = lambda: True


ListenerFunction = Callable[[ServiceContext], AbstractAsyncContextManager[ListeningService | None]]
"""Runs a service until the block ends; yields None if it is off."""


def listen(
    service: Service, context: ServiceContext
) -> AbstractAsyncContextManager[ListeningService | None]:
    """Run a listener until the block ends; it yields what runs, or None if it is off.

    Raises:
        ConfigError: a setting stands in the way.
        ValueError: the service is no listener.
    """
    if service.listener is None:
        raise ValueError(f"{service.name} is run by workers, not by a listener")
    module, _, function = service.listener.partition(":")
    function_of: ListenerFunction = getattr(importlib.import_module(module), function)
    return function_of(context)


def beside_up(services: tuple[Service, ...]) -> list[Service]:
    """Return the listeners that `mailqueue up` runs beside its parts. Pure."""
    return [one for one in services if one.in_up is InUp.BESIDE and one.listener is not None]
