"""Commands for timed events and birthdays."""
