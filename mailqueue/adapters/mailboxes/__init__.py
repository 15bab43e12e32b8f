"""Readers of watched inboxes, a file each."""
