"""Formats of webhook requests: ours, and those of compatible providers."""
