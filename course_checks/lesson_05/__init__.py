"""Lesson 05, masking: one file an exercise."""
