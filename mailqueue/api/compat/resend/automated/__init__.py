"""Resend's API: events, and the automations that they start."""
