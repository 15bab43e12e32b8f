"""Channels that notifications are posted to, a file each."""
