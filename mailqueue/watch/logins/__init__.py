"""Persons whose inboxes are watched log in: invitations, passwords, sessions."""
