"""Pages of channels."""
