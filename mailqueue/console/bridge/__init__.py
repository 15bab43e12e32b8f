"""Pages of the message broker: its queues, and messages that could not be handled."""
