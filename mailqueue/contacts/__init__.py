"""Contacts: the persons that a project writes to, lists of them, and mail to lists."""
