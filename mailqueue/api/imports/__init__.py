"""Endpoints of imports that workers carry out, for each kind of what is imported."""
