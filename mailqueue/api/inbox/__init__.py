"""Endpoints of events and event rules."""
