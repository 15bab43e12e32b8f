"""The processes that an installation runs: their registry, and what a row of it says."""
