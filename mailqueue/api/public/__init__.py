"""Pages and endpoints without authentication."""
