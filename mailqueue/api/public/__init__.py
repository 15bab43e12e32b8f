"""Pages and endpoints for everybody, without a key."""
