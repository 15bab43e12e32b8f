"""Imports of files, whose lines workers take: with progress, and resumed where one was killed."""
