"""Tracking: tokens, links and what is injected into mail for opens, clicks and unsubscribes."""
