"""Lesson 12, the decoder-only language model: one file an exercise."""
