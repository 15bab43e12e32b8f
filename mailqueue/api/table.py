"""Every endpoint there is: routes, validation and documents are made from this table."""

from mailqueue.api import emails, keys, sending, suppressions
from mailqueue.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *sending.ENDPOINTS,
    *emails.ENDPOINTS,
    *keys.ENDPOINTS,
    *suppressions.ENDPOINTS,
)
