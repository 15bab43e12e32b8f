"""Suppressions: the addresses a project sends nothing to, and why."""
