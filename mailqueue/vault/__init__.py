"""Secrets at rest: the master key, data keys of projects, sealed values."""
