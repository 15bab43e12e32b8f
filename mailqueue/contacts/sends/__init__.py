"""Mail to all contacts of a list, which workers make in chunks."""
