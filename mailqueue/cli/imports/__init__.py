"""Imports that workers carry out: begun, listed, shown and followed."""
