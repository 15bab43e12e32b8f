"""What keeps the database well for years: months, retention, archive, statistics."""
