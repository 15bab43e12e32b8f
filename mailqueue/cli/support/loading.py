"""Imports modules when they are needed."""

import gc
import importlib
from types import ModuleType


def load_module(name: str) -> ModuleType:
    """Import and return a module.

    What modules make stays: to look through it for garbage would take a tenth of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        if was_on:
            gc.enable()
