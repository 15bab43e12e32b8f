"""Secrets at rest: the master key, a data key per project, sealed values."""
