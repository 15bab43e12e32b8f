"""The routing rules of a project."""
