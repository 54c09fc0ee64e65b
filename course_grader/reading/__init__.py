"""Reading what a student wrote, without running it."""
