"""Administrators by the signed tokens of an OpenID Connect issuer."""
