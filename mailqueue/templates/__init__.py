"""Templates: what mail says, in versions and languages."""
