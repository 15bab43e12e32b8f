"""The pages of persons whose inboxes are watched, below `/inbox/PROJECT`."""
