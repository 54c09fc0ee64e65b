"""Lesson 15, Across machines."""
