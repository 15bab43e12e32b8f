"""Endpoints of timed events and birthdays."""
