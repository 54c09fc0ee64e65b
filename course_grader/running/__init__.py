"""Running a rebuilt notebook in a sandbox, and taking down what it says."""
