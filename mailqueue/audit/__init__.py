"""Seals of the audit log: codes under a key that is not in the database, and their verification."""
