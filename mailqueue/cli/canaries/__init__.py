"""The commands of canaries."""
