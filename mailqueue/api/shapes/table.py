"""Every shape there is."""

from mailqueue.api.shapes.mailgun import MAILGUN
from mailqueue.api.shapes.model import Shape
from mailqueue.api.shapes.postmark import POSTMARK
from mailqueue.api.shapes.resend import RESEND
from mailqueue.api.shapes.sendgrid import SENDGRID

SHAPES: tuple[Shape, ...] = (RESEND, POSTMARK, SENDGRID, MAILGUN)
