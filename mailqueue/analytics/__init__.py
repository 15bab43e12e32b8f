"""Counts of mail and events: keeping them, comparing them with history, and reading them."""
