"""Pages of inboxes."""
