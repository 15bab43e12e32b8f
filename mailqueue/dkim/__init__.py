"""DKIM signatures: canonical forms, keys and records. Runs no SQL."""
