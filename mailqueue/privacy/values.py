"""Exports and erasures of persons as callers see them."""

from mailqueue.contract.privacy import ErasureState
from mailqueue.privacy.model import Erasure


def state_of(one: Erasure) -> ErasureState:
    """Return the state of an erasure."""
    return ErasureState(
        id=one.id,
        email_hash=one.address_hash,
        state="done" if one.finished_at is not None else "running",
        rows=dict(one.found),
        requested_at=one.requested_at,
        finished_at=one.finished_at,
    )
