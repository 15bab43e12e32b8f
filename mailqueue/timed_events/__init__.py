"""Mail and webhook calls that are due at a time, and birthdays of contacts."""
