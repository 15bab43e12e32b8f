"""Web pages for people without a shell: users log in, find an email or a recipient, and act."""
