"""The audit log: its search, its seals under a key outside the database, and their check."""
