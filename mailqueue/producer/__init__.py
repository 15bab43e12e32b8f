"""Hands mail in from programs that have a connection of psycopg: in their own transaction."""
