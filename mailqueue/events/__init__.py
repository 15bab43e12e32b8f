"""What came back about mail that left."""
