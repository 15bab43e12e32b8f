"""SQL of schedules."""
