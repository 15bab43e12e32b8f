"""What administrators of the whole installation see and do, over all projects."""
