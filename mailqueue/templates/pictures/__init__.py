"""Pictures that HTML of templates names by a public URL."""
