"""DKIM signatures: canonical forms, keys and records. Knows no table."""
