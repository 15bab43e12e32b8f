"""The parameters of statements that write outcomes of claimed rows."""

from collections.abc import Sequence

from mailqueue.core.outcome import Again, Defer, Done, Outcome, Retry
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.storable_text import storable, storable_json
from mailqueue.db import arrays
from mailqueue.queue.rows import Claim


def outcome_values(spec: QueueSpec, ended: Sequence[tuple[Claim, Outcome]]) -> dict[str, object]:
    """Return the parameters of a statement that writes outcomes of claimed rows.

    Raises:
        ValueError: an outcome has values of columns that the queue does not write.
    """
    outcomes = [outcome for _, outcome in ended]
    written = [one.values for one in outcomes if one.values]
    if unknown := set().union(*written).difference(spec.columns):
        names = ", ".join(sorted(unknown))
        raise ValueError(f"queue {spec.name} writes no such columns: {names}")
    return {
        "ids": arrays.uuids([row.id for row, _ in ended]),
        "claims": arrays.integers([row.claim_no for row, _ in ended]),
        "outcomes": arrays.texts([type(one).__name__.lower() for one in outcomes]),
        "statuses": arrays.texts(
            [one.status if isinstance(one, Done) else None for one in outcomes]
        ),
        "waits": arrays.intervals(
            [one.wait if isinstance(one, Retry | Defer | Again) else None for one in outcomes]
        ),
        "runs": arrays.texts(
            [
                one.at.isoformat() if isinstance(one, Again) and one.at is not None else None
                for one in outcomes
            ]
        ),
        "reasons": arrays.texts([storable(one.reason) for one in outcomes]),
        "values": arrays.documents(
            [storable_json(one.values) if one.values else None for one in outcomes]
        ),
    }
