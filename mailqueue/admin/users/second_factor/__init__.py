"""The second factor of users with a password: codes, turning it on and off, and logins with it."""
