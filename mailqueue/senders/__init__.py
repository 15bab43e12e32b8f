"""Sender accounts: the identities we send as, with credentials and limits."""
