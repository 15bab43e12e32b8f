"""Templates as text: compiled, bounded, rendered. Knows no table."""
