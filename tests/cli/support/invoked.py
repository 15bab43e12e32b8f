"""Runs commands on a database of one test."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from click.testing import CliRunner, Result

from mailqueue.cli.main import main
from mailqueue.cli.support import confirmation
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings

T = TypeVar("T")


class Cli:
    """A database and a data folder; call it with the arguments of a command."""

    def __init__(self, database: str, data: Path) -> None:
        self.database = database
        self.environment: dict[str, str | None] = {
            "MAILQUEUE_DATABASE_URL": database,
            "MAILQUEUE_DATA": str(data),
        }

    def __call__(
        self,
        *words: str,
        stdin: str | bytes | None = None,
        answer: str | None = None,
        env: Mapping[str, str | None] | None = None,
    ) -> Result:
        """Run it; `answer` is what a person types on a terminal."""
        runner = CliRunner(env={**self.environment, **(env or {})})
        with patch.object(confirmation, "has_terminal", return_value=answer is not None):
            return runner.invoke(main, words, input=stdin if answer is None else answer)

    def json(self, *words: str, exit_code: int = 0, stdin: str | bytes | None = None) -> Any:
        """Run it with --json and return the document."""
        result = self(*words, "--json", stdin=stdin)
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)

    def sql(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Run a function on a connection of the database's owner and return its result."""

        async def worked() -> T:
            async with connect(DatabaseSettings(Secret(self.database))) as conn:
                return await work(conn)

        return asyncio.run(worked())
