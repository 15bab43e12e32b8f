"""Commands for watched inboxes, their channels, rules and notifications."""
