"""Sequences: mails that a contact gets one after another once it is enrolled."""
