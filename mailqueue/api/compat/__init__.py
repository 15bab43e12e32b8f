"""The send APIs that other programs already speak, each over the same acceptance as /v1/send."""
