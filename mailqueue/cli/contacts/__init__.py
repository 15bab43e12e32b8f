"""Commands for contacts and lists."""
