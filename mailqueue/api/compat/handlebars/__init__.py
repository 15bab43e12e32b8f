"""Templates of other providers, in the language of ours."""
