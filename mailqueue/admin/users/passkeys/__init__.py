"""Passkeys (WebAuthn) of users of the console: added, used to log in and to confirm, removed."""
