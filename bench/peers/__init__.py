"""Other queues with a mail library each, in their best documented configuration."""
