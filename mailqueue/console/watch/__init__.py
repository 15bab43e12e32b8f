"""Pages of inbox watch: persons, their inboxes and channels, and notifications."""
