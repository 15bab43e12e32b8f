"""Tells projects' endpoints what happens to their mail."""
