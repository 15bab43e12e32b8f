"""The queues of background work: their registry, and what a row of it says."""
