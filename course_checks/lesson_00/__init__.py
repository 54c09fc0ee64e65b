"""Lesson 00, start here: one file an exercise."""
