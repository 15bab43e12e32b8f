"""Suppressed addresses as compatible APIs list, add and remove them."""
