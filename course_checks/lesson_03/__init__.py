"""Lesson 03, attention in sequence-to-sequence models: one file an exercise."""
