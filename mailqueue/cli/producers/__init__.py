"""`mailqueue producer`."""
