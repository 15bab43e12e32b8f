"""Templates: content of mail with variables, in versions and languages."""
