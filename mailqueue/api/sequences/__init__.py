"""Endpoints of sequences and enrollments."""
