"""The settings and flags of the installation."""
