"""The API of outboxes."""
