"""Recognize templates that only insert variables, and fill them without Jinja."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import nodes
from markupsafe import escape

from mailqueue.rendering.contexts.stream import Writer, is_plain_at_all
from mailqueue.rendering.faults import Exceeded, TemplateFault
from mailqueue.rendering.meter import CHARACTERS, Meter, describe, printed

Path = tuple[str, ...]
Piece = Callable[[Mapping[str, Any]], str]
"""A compiled body or subject: takes the variables and returns the text."""

_NOT_VARIABLES = frozenset({"range", "dict", "namespace", "self", "loop", "caller", "varargs"})


@dataclass(frozen=True, slots=True)
class Flat:
    """Text with gaps: every second of `pieces` is a gap for a variable."""

    pieces: tuple[str, ...]
    places: tuple[tuple[int, Path], ...]
    is_html: bool
    writer: Writer | None  # of HTML with values in other places than text

    @property
    def paths(self) -> tuple[Path, ...]:
        """Return the variables of its gaps."""
        return tuple(path for _, path in self.places)

    def __call__(self, variables: Mapping[str, Any]) -> str:
        """Return the text with the variables inserted.

        Raises:
            TemplateFault: a variable is missing, or is a list or an object.
        """
        pieces: list[Any] = list(self.pieces)
        room = CHARACTERS
        for place, path in self.places:
            value: Any = variables
            for name in path:
                if type(value) is not dict or name not in value:
                    raise _missing(path, name, value, is_first=value is variables)
                value = value[name]
            text = value if type(value) is str else printed(value)
            room -= len(text)
            if self.writer is not None:
                pieces[place] = (text,)
            else:
                pieces[place] = escape(text) if self.is_html else text
        if room < 0:
            raise Exceeded(f"it writes more than {CHARACTERS} characters")
        return "".join(pieces) if self.writer is None else self.writer.write(pieces)


def _missing(path: Path, name: str, value: object, *, is_first: bool) -> TemplateFault:
    if is_first:
        return TemplateFault(f"the variable {name} is missing")
    return TemplateFault(f"{name} of {describe(value)} is missing, in {'.'.join(path)}")


def flat_of(tree: nodes.Template, meter: Meter, *, is_html: bool) -> Flat | None:
    """Return a template as text with gaps; None where it does more than insert variables."""
    pieces: list[str] = []
    places: list[tuple[int, Path]] = []
    for output in tree.body:
        if not isinstance(output, nodes.Output):
            return None
        for child in output.nodes:
            if isinstance(child, nodes.TemplateData):
                pieces.append(child.data)
            elif (path := _path(child)) is not None:
                places.append((len(pieces), path))
                pieces.append("")
            else:
                return None
    gaps = {place for place, _ in places}
    given = (None if n in gaps else piece for n, piece in enumerate(pieces))
    writer = Writer(meter) if is_html and not is_plain_at_all(given) else None
    return Flat(tuple(pieces), tuple(places), is_html, writer)


def _path(node: nodes.Node) -> Path | None:
    names: list[str] = []
    while isinstance(node, nodes.Getattr):
        names.append(node.attr)
        node = node.node
    if not isinstance(node, nodes.Name) or node.name in _NOT_VARIABLES:
        return None
    return (node.name, *reversed(names))
