"""Parse bounce mail: delivery reports, complaints and automatic replies."""
