"""Copies of the checkout, as guides are tried on."""

from tests.adding.conftest import copy

__all__ = ["copy"]
