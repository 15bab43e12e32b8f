"""Maintenance of the database: monthly partitions, retention, archive, statistics."""
