"""Suppressions: the addresses a project does not write to, and why."""
