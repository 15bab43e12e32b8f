"""Persons: all that is stored about one, and having it forgotten."""
