"""The texts of the pages of recipients, and those of a project in their place."""
