"""Events that providers send by webhook: verified and parsed, one file per provider."""
