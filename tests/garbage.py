"""Keeps Python's search for garbage away from what lives as long as a run.

Each process of a run holds millions of objects of tests and modules. While they are collected, a
search finds nothing; during the tests it finds what tests have left, and need not visit the rest.
"""

import gc
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without a search, and leave them out of all later ones."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
