"""Starts worker processes: a small server process with their modules loaded forks each of them."""
