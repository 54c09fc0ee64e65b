"""Lesson 10, the Transformer: one file an exercise."""
