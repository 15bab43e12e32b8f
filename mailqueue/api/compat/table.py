"""Every shape there is."""

from mailqueue.api.compat.mailgun.endpoints import MAILGUN
from mailqueue.api.compat.model import Shape
from mailqueue.api.compat.postmark.endpoints import POSTMARK
from mailqueue.api.compat.resend.endpoints import RESEND
from mailqueue.api.compat.sendgrid.endpoints import SENDGRID

SHAPES: tuple[Shape, ...] = (RESEND, POSTMARK, SENDGRID, MAILGUN)
