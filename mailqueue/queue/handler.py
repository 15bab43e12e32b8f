"""What a kind of background work provides: how one claimed row is handled."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from mailqueue.core.outcome import Outcome, Retry
from mailqueue.db.fetch import Conn


class Claim(Protocol):
    """What every claimed row has; the other columns are those that a handler's row type names."""

    @property
    def id(self) -> UUID: ...
    @property
    def claim_no(self) -> int: ...


Row = TypeVar("Row", bound=Claim)
Work = TypeVar("Work")
Result = TypeVar("Result")


class Call(Protocol):
    """Runs a function with a connection, and again if the connection broke."""

    async def __call__(self, operation: Callable[[Conn], Awaitable[Result]], /) -> Result: ...


class Handler(ABC, Generic[Row, Work]):
    """Handles the rows of one queue.

    `handle` may use the network; no transaction is open. What it returns is an outcome, or work
    that `commit` writes in the transaction that settles the row, so that both happen or neither.
    `row` is a NamedTuple; its fields without a default are columns of the table, the others are
    what `load` adds.
    """

    row: type[Row]
    release_key: Callable[[str, str], None] = staticmethod(lambda _key, _reason: None)
    """Return the waiting rows of a key to the queue, with a reason; set by the worker."""
    claims_by: str | None = None
    """Name of a statement that claims rows and reads what `load` would; None: a claim reads the
    columns of the table."""

    async def load(self, conn: Conn, rows: Sequence[Row]) -> Sequence[Row]:  # noqa: ARG002
        """Return the rows of one claim with what they need, read together.

        What it raises is a failed attempt of the rows at fault.
        """
        return rows

    @abstractmethod
    async def handle(self, row: Row) -> Outcome | Work:
        """Handle one row; what it raises is a failed attempt of this row alone."""

    async def commit(
        self,
        conn: Conn,  # noqa: ARG002
        done: Sequence[tuple[Row, Work]],  # noqa: ARG002
    ) -> Sequence[Outcome]:
        """Write the work of rows in the settling transaction; return outcomes.

        It is undone where a claim turns out to be lost, and called again without that row. Where
        it raises, each row is written alone, and the one that raises fails its attempt.
        """
        raise TypeError(f"{type(self).__name__} returned work, and commits none")

    async def commit_lost(self, conn: Conn, done: Sequence[tuple[Row, Work]]) -> None:
        """Write what is true of work whatever became of its rows, whose claims no longer hold.

        Another worker may have claimed them since, or they were settled by a commit that was not
        acknowledged. Nothing may be written twice.
        """

    async def settle(
        self,
        conn: Conn,  # noqa: ARG002
        outcomes: Sequence[tuple[Row, Outcome]],  # noqa: ARG002
        works: Sequence[tuple[Row, Work]],  # noqa: ARG002
    ) -> tuple[Sequence[tuple[Row, Outcome]], set[UUID]] | None:
        """Write outcomes and works in one statement that checks the claims; return all outcomes,
        and the ids whose claim no longer holds.

        None, as here: works are written by `commit`, in a transaction with the outcomes.
        """
        return None

    def committed(self, done: Sequence[tuple[Row, Outcome]]) -> None:
        """Receive the outcomes that a commit made durable."""

    def size(self, work: Work) -> int:  # noqa: ARG002
        """Return how much of a commit's room the work takes; see Settler."""
        return 1

    def is_answered(self, result: Outcome | Work) -> bool:
        """Return whether the row's key responded well: then it may have one more row at a time."""
        return not isinstance(result, Retry)

    async def rest(self, call: Call) -> None:
        """Release what is idle, and do other upkeep; called every few seconds.

        `call` runs a function with a connection, and again if the connection broke.
        """

    async def close(self) -> None:
        """Release everything."""
