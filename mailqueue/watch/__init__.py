"""Watched inboxes: new mail becomes a message in a channel of the person."""
