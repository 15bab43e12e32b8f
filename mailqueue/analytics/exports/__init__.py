"""Exports of a project's data to files, which workers write in parts."""
