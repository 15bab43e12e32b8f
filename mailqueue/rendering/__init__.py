"""Compile and render templates within limits; independent of the database."""
