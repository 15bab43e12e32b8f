"""Users of the console: roles, passwords, links that set a password, and sessions."""
