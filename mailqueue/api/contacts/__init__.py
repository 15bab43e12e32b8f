"""Endpoints of contacts and lists."""
