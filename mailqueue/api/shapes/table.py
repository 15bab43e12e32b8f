"""Every shape there is."""

from mailqueue.api.shapes.model import Shape

SHAPES: tuple[Shape, ...] = ()
