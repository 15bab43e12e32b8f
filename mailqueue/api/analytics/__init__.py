"""Endpoints of counts of mail and events."""
