"""Commands for rows of the queues besides mail."""
