"""Reads bounce mail: reports of failure, complaints, automatic answers; and says what counts."""
