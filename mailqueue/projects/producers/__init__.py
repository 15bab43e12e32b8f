"""Logins of producers that are bound to projects."""
