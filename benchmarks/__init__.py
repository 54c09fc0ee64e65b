"""Measurements of what a student waits for, and ratios against PyTorch in one run. `make bench`."""
