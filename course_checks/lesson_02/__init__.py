"""Lesson 02, attention as a soft lookup: one file an exercise."""
