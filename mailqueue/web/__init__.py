"""What all HTML pages share: templates, security headers, static files and forms."""
