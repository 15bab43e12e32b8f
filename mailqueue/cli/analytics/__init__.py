"""Commands of counts of mail and events."""
