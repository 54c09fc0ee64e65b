"""Data without downloads: the Python documentation, word vectors, English pronunciations, synthetic tasks, batches."""
