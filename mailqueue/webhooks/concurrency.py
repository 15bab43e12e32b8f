"""Concurrency of calls in one process, and the share of endpoints that are unproven."""

from dataclasses import dataclass


@dataclass(slots=True)
class CallSlots:
    """A fixed number of slots; an endpoint without a recent good response is unproven.

    Unproven endpoints together hold at most half of the slots, so that slow and silent ones never
    take those of endpoints that respond.
    """

    limit: int
    taken: int = 0
    unproven: int = 0

    def take(self, *, is_unproven: bool) -> bool:
        """Take a slot; return False when none is free."""
        if self.taken >= self.limit:
            return False
        if is_unproven:
            if self.unproven >= max(1, self.limit // 2):
                return False
            self.unproven += 1
        self.taken += 1
        return True

    def give_back(self, *, was_unproven: bool) -> None:
        """Free a slot, taken by an unproven endpoint or not."""
        self.taken -= 1
        self.unproven -= was_unproven
