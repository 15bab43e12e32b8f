"""Settings of the bounce listener from the environment."""

import os
from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.settings.bounces import BounceSettings
from mailqueue.settings.environment import load_settings


@pytest.fixture(autouse=True)
def _data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(os.environ, "MAILQUEUE_DATA", str(tmp_path))


def test_nothing_is_taken_in_beyond_this_machine_by_default() -> None:
    assert load_settings().bounces == BounceSettings("127.0.0.1", None, (), None)


def test_it_is_told_by_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "HOST": "0.0.0.0",
        "PORT": "25",
        "DOMAINS": "Bounces.example.com, fbl.example.net",
        "NAME": "mx.example.com",
    }.items():
        monkeypatch.setitem(os.environ, f"MAILQUEUE_BOUNCES_{name}", value)

    domains = ("bounces.example.com", "fbl.example.net")
    assert load_settings().bounces == BounceSettings("0.0.0.0", 25, domains, "mx.example.com")


@pytest.mark.parametrize("wrong", ["@x.example", "x", "a..b", "x.example; drop"])
def test_what_is_no_domain_is_named(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setitem(os.environ, "MAILQUEUE_BOUNCES_DOMAINS", wrong)

    with pytest.raises(ConfigError, match="MAILQUEUE_BOUNCES_DOMAINS: must be domains"):
        load_settings()
