"""Every endpoint there is: routes, validation and documents are made from this table."""

from mailqueue.api import emails, sending
from mailqueue.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *sending.ENDPOINTS,
    *emails.ENDPOINTS,
)
