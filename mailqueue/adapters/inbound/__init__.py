"""What providers tell by webhook: who said it, and what it means; one file each."""
