"""The email platform that lives in your own PostgreSQL."""

__version__ = "0.1.0"
