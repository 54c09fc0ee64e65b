"""What a class gets and an instructor sees."""
