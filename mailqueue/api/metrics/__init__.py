"""Metrics over HTTP, in the format of Prometheus, on a port of their own."""
