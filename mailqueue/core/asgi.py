"""Keys of our own in the scope of a request."""

CLOSING = "mailqueue.closing"
"""The event that the server stops, which ends responses that last."""
