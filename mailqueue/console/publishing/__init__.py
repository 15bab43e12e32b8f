"""The outboxes of a project."""
