"""What happens by itself: at a time, after an event, or in an order."""
