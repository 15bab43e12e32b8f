"""Sender accounts: the identities mail is sent as, with credentials and limits."""
