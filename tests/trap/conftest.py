"""Tests that need a browser carry a marker: a machine without one can leave them out aloud."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: needs chromium at /usr/bin/chromium")
