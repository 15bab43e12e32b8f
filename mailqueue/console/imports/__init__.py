"""Pages of imports: which there were, and how far each is."""
