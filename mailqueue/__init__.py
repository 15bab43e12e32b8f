"""The email platform that lives in your own PostgreSQL."""
