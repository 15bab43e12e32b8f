"""Metrics of processes, counted in memory that a parent process reads, and how they are shown."""
