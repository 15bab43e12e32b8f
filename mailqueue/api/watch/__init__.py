"""Endpoints of watched inboxes, their channels, rules and notifications."""
