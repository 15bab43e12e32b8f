"""SendGrid's API: single sends, which are broadcasts."""
