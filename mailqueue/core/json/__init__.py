"""JSON: reading and writing without failing on values that were accepted, and counting values."""
