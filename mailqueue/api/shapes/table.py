"""Every shape there is."""

from mailqueue.api.shapes.model import Shape
from mailqueue.api.shapes.resend import RESEND

SHAPES: tuple[Shape, ...] = (RESEND,)
