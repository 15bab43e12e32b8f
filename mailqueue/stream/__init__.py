"""The stream of events and the consumers that read it: each event once, behind a position."""
