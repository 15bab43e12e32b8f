"""A/B tests: variants of one mail, compared by how many recipients open or click."""
