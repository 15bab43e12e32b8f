"""Events that providers send by webhook: verified and read, one file a provider."""
