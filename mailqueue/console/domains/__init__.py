"""Pages of the domains that a project sends from, and of their DKIM keys."""
