"""Count the functions of the project that a piece of work enters, which its reader has to
follow.
"""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, FunctionType

import mailqueue

_ROOT = f"{Path(mailqueue.__file__).parent}/"
_FRAME = ("api/http/", "core/", "db/", "telemetry/", "vault/")
"""What every request and statement goes through, and no reader of one capability has to follow."""


class Hops:
    """The distinct functions of the capabilities that were entered."""

    def __init__(self) -> None:
        self._codes: Counter[CodeType] = Counter()

    def enter(self, frame: FrameType, event: str, _arg: object) -> None:
        """Note a call; a profile function of Python."""
        if event == "call":
            self._codes[frame.f_code] += 1

    def times(self, function: Callable[..., object]) -> int:
        """Return how often a function was called; not for coroutines, whose resuming counts too."""
        assert isinstance(function, FunctionType)
        return self._codes[function.__code__]

    @property
    def names(self) -> list[str]:
        """Return file and function of each; comprehensions and templates are none."""
        return sorted(
            f"{name} {code.co_qualname}"
            for code in self._codes
            if code.co_filename.startswith(_ROOT)
            and (name := code.co_filename.removeprefix(_ROOT)).endswith(".py")
            and not name.startswith(_FRAME)
            and not code.co_name.startswith("<")
        )


@contextmanager
def hops() -> Iterator[Hops]:
    """Yield the functions entered in the block, by this thread and by those that begin in it."""
    found = Hops()
    threading.setprofile(found.enter)
    sys.setprofile(found.enter)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
