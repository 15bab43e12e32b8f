"""Messages as bytes: their lines."""
