"""Messages that services write in their transactions, published in order: docs/publishing.md."""
