"""How receivers come to trust a domain: its DKIM keys and its records in DNS."""
