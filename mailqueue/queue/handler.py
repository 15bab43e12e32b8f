"""What a kind of background work provides: how one claimed row is handled."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from mailqueue.core.outcome import Outcome, Retry
from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.fetch import Conn
from mailqueue.db.sql import ManyRows
from mailqueue.queue import store
from mailqueue.queue.rows import Row

Work = TypeVar("Work")
Result = TypeVar("Result")


class Call(Protocol):
    """Runs a function with a connection, and again if the connection broke."""

    async def __call__(self, operation: Callable[[Conn], Awaitable[Result]], /) -> Result: ...


@dataclass(frozen=True, slots=True)
class Settled(Generic[Row]):
    """What a settling transaction wrote."""

    ended: Sequence[tuple[Row, Outcome]]
    """All rows of the group with their outcomes."""
    lost: set[UUID]
    """Ids whose claim no longer holds; nothing was written for them."""
    blocked: Mapping[str, str] = field(default_factory=dict)
    """Keys whose waiting rows return to the queue, each with the reason."""


class Handler(ABC, Generic[Row, Work]):
    """Handles the rows of one queue.

    `handle` may use the network; no transaction is open. What it returns is an outcome, or work
    that `commit` writes in the transaction that settles the row, so that both happen or neither.
    Work with an attribute `size` takes as much of the room of a commit, other work as one row.
    `row` is a NamedTuple; its fields without a default are columns of the table, the others are
    what `load` adds.
    """

    row: type[Row]
    claims_by: ManyRows | None = None
    """Name of a statement that claims rows and reads what `load` would; None: a claim reads the
    columns of the table."""

    async def load(self, conn: Conn, rows: Sequence[Row]) -> Sequence[Row]:  # noqa: ARG002
        """Return the rows of one claim with what they need, read together.

        What it raises is a failed attempt of the rows at fault. Called where a handler replaces it.
        """
        return rows

    @abstractmethod
    async def handle(self, row: Row) -> Outcome | Work:
        """Handle one row; what it raises is a failed attempt of this row alone."""

    def is_answered(self, result: Outcome | Work) -> bool:
        """Return whether the row's key responded well: then it may have one more row at a time.

        Called where the queue has a key.
        """
        return not isinstance(result, Retry)

    async def settle(
        self,
        conn: Conn,
        spec: QueueSpec,
        outcomes: Sequence[tuple[Row, Outcome]],
        works: Sequence[tuple[Row, Work]],
    ) -> Settled[Row]:
        """Write outcomes and works in one transaction.

        Lost claims are seldom and show when rows are settled; then the work is undone and written
        again without theirs, so that no statement has to ask before. A handler that writes all of
        it in one statement which checks the claims replaces this.
        """
        if not works:
            return Settled(outcomes, await store.settle(conn, spec, outcomes))
        lost = set[UUID]()
        while True:
            ours = [(row, work) for row, work in works if row.id not in lost]
            async with conn.transaction():
                if lost:
                    theirs = [(row, work) for row, work in works if row.id in lost]
                    await self.commit_lost(conn, theirs)
                written = await self.commit(conn, ours) if ours else []
                ended = [*outcomes, *zip((row for row, _ in ours), written, strict=True)]
                found = await store.settle(conn, spec, ended)
                if found.isdisjoint(row.id for row, _ in ours):
                    return Settled(ended, lost | found)
                lost |= found
                raise store.Undo

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
        """Record what work did although the claims of its rows were lost, such as an email sent.

        Another worker may have claimed them since, or they were settled by a commit that was not
        acknowledged. Nothing may be written twice.
        """

    async def rest(self, call: Call) -> None:
        """Release what is idle, and do other upkeep; called every few seconds.

        `call` runs a function with a connection, and again if the connection broke.
        """

    async def close(self) -> None:
        """Release everything."""


class TransactionHandler(Handler[Row, Work]):
    """Handles rows whose whole work is the SQL of `commit`.

    Where many rows are due, a task for each would cost more than their work: here rows are not
    dispatched. Their work is queued to be written as soon as they are claimed, and the keys of the
    queue take turns.
    """

    @abstractmethod
    def work(self, row: Row) -> Outcome | Work:
        """Return what is to be written of one row, at once and without waiting for anything.

        What it raises is a failed attempt of this row alone.
        """

    async def handle(self, row: Row) -> Outcome | Work:
        return self.work(row)
