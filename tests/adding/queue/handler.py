"""The handler of queue `suppression-requests`: suppress an address at a time that was asked for."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID, uuid4

from mailqueue.core.address import Address, InvalidAddress, parse_address
from mailqueue.core.outcome import Done, Failed, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import Settings
from mailqueue.suppression import store
from mailqueue.suppression.model import ListLine, NewSuppression

BY = "suppression request"
"""Actor in the audit."""


class ClaimedRequest(NamedTuple):
    """A claimed row of suppression_requests."""

    id: UUID
    claim_no: int
    project_id: UUID
    address: str


class RequestHandler(Handler[ClaimedRequest, Address]):
    """Suppresses addresses, in the transaction that settles their rows."""

    row = ClaimedRequest

    async def handle(self, row: ClaimedRequest) -> Outcome | Address:
        try:
            return parse_address(row.address)
        except InvalidAddress as exc:
            return Failed(f"not an address: {exc}")

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedRequest, Address]]
    ) -> list[Outcome]:
        outcomes = list[Outcome]()
        for row, address in done:
            import_id = uuid4()
            await store.copy_lines(conn, import_id, [ListLine(0, NewSuppression(address))])
            taken = await store.list_taken(conn, row.project_id, import_id, by=BY)
            outcomes.append(Done(values={"outcome": taken[0].value}))
        return outcomes


def request_handler(_settings: Settings) -> RequestHandler:
    """Return the handler of queue `suppression-requests`."""
    return RequestHandler()
