"""Queue mail over the caller's psycopg connection, in the caller's transaction."""
