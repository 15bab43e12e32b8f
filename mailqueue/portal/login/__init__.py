"""Log in and out, set a password by a link, and one's own account."""
