"""DKIM keys of sending domains, and checks of the domains' DNS records."""
