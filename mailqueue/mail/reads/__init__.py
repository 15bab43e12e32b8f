"""Emails as callers see them: one with its details, and lists."""
