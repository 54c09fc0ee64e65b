"""Lesson 08, positional information: one file an exercise."""
