"""Authenticates administrators by ID tokens of an OpenID Connect issuer."""
