"""The statements of sql/queries/events/inbound.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

FIND_INBOUND_ENDPOINT = MaybeRow.named("find_inbound_endpoint")
"""sql/queries/events/inbound.sql:3: The endpoint of a URL."""
LIST_INBOUND_ENDPOINTS = ManyRows.named("list_inbound_endpoints")
"""sql/queries/events/inbound.sql:8: The endpoints of a sender account."""
PUT_INBOUND_ENDPOINT = NoRows.named("put_inbound_endpoint")
"""sql/queries/events/inbound.sql:15: Insert or replace the endpoint of an account and provider."""
REMOVE_INBOUND_ENDPOINT = NoRows.named("remove_inbound_endpoint")
"""sql/queries/events/inbound.sql:22: Delete an endpoint: later requests of its provider are
rejected.
"""
NOTE_INBOUND_CHANGE = NoRows.named("note_inbound_change")
"""sql/queries/events/inbound.sql:28: Write an audit row for a change of an endpoint."""
KEEP_INBOUND = OneValue.named("keep_inbound")
"""sql/queries/events/inbound.sql:33: Queue requests for a worker; returns the number of new ones.
"""
LIST_INBOUND = ManyRows.named("list_inbound")
"""sql/queries/events/inbound.sql:39: Requests of providers, the newest first."""
FIND_INBOUND_BODY = MaybeRow.named("find_inbound_body")
"""sql/queries/events/inbound.sql:53: The body of a request, unchanged."""
RETRY_INBOUND = OneValue.named("retry_inbound")
"""sql/queries/events/inbound.sql:59: Process failed or unmatched requests again; returns their
number.
"""
LIST_SEALED_INBOUND_ENDPOINTS = ManyRows.named("list_sealed_inbound_endpoints")
"""sql/queries/events/inbound.sql:63: Some endpoints that are sealed with a data key."""
REPLACE_SEALED_INBOUND_ENDPOINT = NoRows.named("replace_sealed_inbound_endpoint")
"""sql/queries/events/inbound.sql:73: Replace a sealed endpoint, unless it was changed meanwhile."""
