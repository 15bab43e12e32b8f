"""Pages of filter rules."""
