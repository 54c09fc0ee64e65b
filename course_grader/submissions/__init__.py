"""What was handed in: finding it, reading it without believing it, putting its answers into a clean notebook."""
