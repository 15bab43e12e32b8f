"""Reading of requests: header limits, bodies in memory and on disk."""
