"""Commands for sequences and enrollments."""
