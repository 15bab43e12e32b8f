"""What comes back: webhooks of providers, bounce mail; kept, then understood."""
