"""Webhooks of providers and bounce mail: received, stored, and read by a worker."""
