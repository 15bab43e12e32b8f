"""Benchmarks: run as `python -m bench.NAME`, each with its own PostgreSQL and mail sink."""
