"""Lesson 11, learning to pronounce: one file an exercise."""
