"""Pages of suppressed addresses: listed, added, imported, exported."""
