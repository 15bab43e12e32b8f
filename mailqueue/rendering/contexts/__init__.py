"""Escape the values of a template for the place in the HTML where they stand."""
