"""Limit the work of rendering one mail."""

import time
from collections.abc import Sized
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context, Undefined
from markupsafe import Markup

from mailqueue.rendering.faults import Exceeded, TemplateFault

STEPS = 200_000
"""Most steps of a mail (loop turns, calls, values read); well under half a second."""
CHARACTERS = 2 * 1024 * 1024
"""Most characters written, into the mail or into variables."""
ESCAPING = 400_000
"""Most units of work for reading HTML and escaping values for their places; a unit takes about half
a microsecond. An email of 500 kB with 300 links takes about 10,000.
"""
CPU_SECONDS = 0.5
LARGEST = 2**200
"""Largest absolute value of a number."""

_LOOK_EVERY = 2048
_STEPS_A_CHARACTER = 5  # as a shift: a step for every 32 characters read
_UNITS_A_TAG = 1
_SIZED: tuple[type, ...] = (
    list,
    tuple,
    dict,
    str,
    range,
    type({}.items()),
    type({}.keys()),
    type({}.values()),
)


class Meter:
    """Counts the work of one render at a time, and raises Exceeded above the limits.

    The work is charged before it is done, so nothing grows beyond the limits.
    """

    __slots__ = ("_next_look", "_stop_at", "escaping", "room", "steps")

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin the next render."""
        self.steps = STEPS
        self.room = CHARACTERS
        self.escaping = ESCAPING
        self._next_look = STEPS - _LOOK_EVERY
        self._stop_at = 0.0

    @property
    def used(self) -> int:
        """Return the units of work that the render has used so far."""
        return STEPS - self.steps + ESCAPING - self.escaping

    def step(self, count: int = 1) -> None:
        """Charge steps."""
        self.steps -= count
        if self.steps < self._next_look:
            self._look()

    def write(self, characters: int) -> None:
        """Charge characters, before they are written."""
        self.room -= characters
        if self.room < 0:
            raise Exceeded(f"it writes more than {CHARACTERS} characters")

    def escape(self, units: int) -> None:
        """Charge units of escaping, before the work is done."""
        self.escaping -= units
        if self.escaping < 0:
            raise Exceeded(
                f"reading its HTML and escaping its values takes more than {ESCAPING} units of work"
            )

    def check_html(self, html: str, *, is_read: bool) -> str:
        """Return rendered HTML within the limits; `is_read`: it is converted to text as well."""
        if len(html) > CHARACTERS:
            raise Exceeded(f"it writes more than {CHARACTERS} characters")
        if is_read:
            self.escape(_UNITS_A_TAG * html.count("<"))
        return html

    def _look(self) -> None:
        if self.steps < 0:
            raise Exceeded(f"it takes more than {STEPS} steps")
        self._next_look = self.steps - _LOOK_EVERY
        # CPU time of this thread: the load of the machine does not count.
        now = time.thread_time()
        if not self._stop_at:
            self._stop_at = now + CPU_SECONDS
        elif now > self._stop_at:
            raise Exceeded(f"it takes more than {CPU_SECONDS:g} s")

    def see(self, value: Any) -> Any:
        """Charge the steps of reading a whole value, and return it."""
        kind = type(value)
        if kind is str or kind is Markup:
            self.step(1 + (len(value) >> _STEPS_A_CHARACTER))
        elif kind is list or kind is tuple:
            self.step(1 + len(value))
            for one in value:
                self.see(one)
        elif kind is dict:
            self.step(1 + len(value))
            for key, one in value.items():
                self.see(key)
                self.see(one)
        elif isinstance(value, str):
            self.step(1 + (len(value) >> _STEPS_A_CHARACTER))
        return value

    def each(self, value: Any) -> Any:
        """Charge a step for each turn of the loop over a value, and return it."""
        if isinstance(value, Undefined):
            iter(value)  # raises, with the name of the missing variable
        if not isinstance(value, _SIZED) or not isinstance(value, Sized):
            raise TemplateFault(f"{describe(value)} cannot be looped over")
        self.step(1 + len(value))
        return value

    def number(self, value: Any) -> Any:
        """Return a number within the limits."""
        if type(value) is int and not -LARGEST < value < LARGEST:
            raise Exceeded("a number is too large")
        return value

    @pass_context
    def shown(self, _context: Context, value: Any) -> Any:
        """Return the output for the value of an expression."""
        kind = type(value)
        if kind is str or kind is Markup:
            self.room -= len(value) + 8
            if self.room < 0:
                self.write(0)
            return value
        return self._shown(value)

    def _shown(self, value: Any) -> str:
        text = printed(value)
        self.write(len(text) + 8)
        return text


def printed(value: Any) -> str:
    """Return a value as text; nothing for null.

    Raises:
        TemplateFault: it is a list, an object, or missing.
    """
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case Undefined():
            return str(value)  # raises, with the name of the missing variable
        case _:
            raise TemplateFault(f"{describe(value)} cannot be printed: print its items")


def describe(value: object) -> str:
    """Return the name of a value's type."""
    match value:
        case dict():
            return "an object"
        case Sized() if not isinstance(value, str):
            return "a list"
        case str():
            return "a text"
        case None:
            return "null"
        case bool() | int() | float():
            return "a number"
        case _:
            return "an object of the template"
