"""What all pages of persons share: sessions, forms, errors, the menu."""
