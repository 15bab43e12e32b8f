"""Decides how many calls are under way at once in one process, and how many to strangers."""

from dataclasses import dataclass


@dataclass(slots=True)
class CallSlots:
    """A fixed number of places. An endpoint that has not answered well lately is a stranger.

    Strangers together have one half of the places: however many of them say nothing for as long as
    they may, those that answer have the other half.
    """

    most: int
    taken: int = 0
    by_strangers: int = 0

    def take(self, *, is_stranger: bool) -> bool:
        """Take a place; False where none is free."""
        if self.taken >= self.most:
            return False
        if is_stranger:
            if self.by_strangers >= max(1, self.most // 2):
                return False
            self.by_strangers += 1
        self.taken += 1
        return True

    def give_back(self, *, was_stranger: bool) -> None:
        """Free a place that was taken as a stranger or not."""
        self.taken -= 1
        self.by_strangers -= was_stranger
