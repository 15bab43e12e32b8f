"""Parts of pages that change: read once for all open pages, and sent as server-sent events."""
