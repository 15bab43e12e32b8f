"""What all pages share: layout, sessions, rights, security headers, forms and errors."""
