"""SQL of watched inboxes."""
