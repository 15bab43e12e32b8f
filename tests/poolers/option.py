"""The option `--pooler`: a whole test run through a pooler in transaction mode."""

import os

import pytest

from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests.poolers.exceptions import DIRECT

OPTION = "--pooler"


def is_pooled(config: pytest.Config) -> bool:
    """Return whether this run uses a pooler."""
    return bool(config.getoption(OPTION))


def go_through() -> None:
    """Set pooler mode `transaction` for commands, and for settings of tests without one."""
    os.environ["MAILQUEUE_POOLER"] = Pooler.TRANSACTION.value
    source, pool_max, _, direct = DatabaseSettings.__init__.__defaults__ or ()
    DatabaseSettings.__init__.__defaults__ = (source, pool_max, Pooler.TRANSACTION, direct)


def why_direct(nodeid: str) -> str | None:
    """Return why a test does not run through a pooler."""
    name = nodeid.partition("[")[0]
    file = name.partition("::")[0]
    return DIRECT.get(name) or DIRECT.get(file) or DIRECT.get(file.rpartition("/")[0])
