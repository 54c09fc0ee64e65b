"""Lesson 08, positional information."""
