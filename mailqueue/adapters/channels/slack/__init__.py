"""Slack: messages, and the installation of an app."""
