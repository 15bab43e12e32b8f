"""Administration of the whole installation, over all projects."""
