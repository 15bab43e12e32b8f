"""The commands of consumers of events."""
