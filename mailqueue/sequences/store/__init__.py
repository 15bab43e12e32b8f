"""SQL of sequences and enrollments."""
