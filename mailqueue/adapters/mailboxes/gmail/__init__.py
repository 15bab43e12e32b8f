"""Inboxes at Gmail: the consent of their owners, and what arrives in them."""
