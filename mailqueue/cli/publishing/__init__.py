"""The commands of outboxes."""
