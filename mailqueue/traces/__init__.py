"""Traces of emails: what the database recorded about them, exported as spans of OpenTelemetry."""
